extension ReportPage {
  static let style = colors + layout + parts

  private static let colors = """

    :root, :root[data-theme="light"] {
      color-scheme: light;
      --page: #f4f4f2; --card: #ffffff; --ink: #1c1f24; --muted: #626872; --line: #e2e3e0;
      --soft: #f3f4f6; --accent: #2459c4; --chosen: #e3ebfb; --changed: #fdf3d4;
      --createZone: #7d5fc4; --createSubscription: #2f8b95; --modify: #2f6bd0; --fetch: #2f8a50;
      --error: #c4302f; --retry: #a86200; --conflict: #a03fb3; --split: #14779a;
      --parked: #86592c; --halt: #1c1f24; --wait: #e9a93a; --stop: #a2a6ad;
    }
    @media (prefers-color-scheme: dark) {
      :root:not([data-theme="light"]) {
        color-scheme: dark;
        --page: #131518; --card: #1b1e23; --ink: #e7e9ec; --muted: #9aa1ac; --line: #2d3239;
        --soft: #23272d; --accent: #86adff; --chosen: #26375a; --changed: #40371b;
        --createZone: #a88ef0; --createSubscription: #56bcc7; --modify: #6b9cf5; --fetch: #5cbf80;
        --error: #ff7d77; --retry: #f0ad4e; --conflict: #d98ae8; --split: #5fc3e8;
        --parked: #cf9f6c; --halt: #ffffff; --wait: #b07c1e; --stop: #5b616b;
      }
    }
    :root[data-theme="dark"] {
      color-scheme: dark;
      --page: #131518; --card: #1b1e23; --ink: #e7e9ec; --muted: #9aa1ac; --line: #2d3239;
      --soft: #23272d; --accent: #86adff; --chosen: #26375a; --changed: #40371b;
      --createZone: #a88ef0; --createSubscription: #56bcc7; --modify: #6b9cf5; --fetch: #5cbf80;
      --error: #ff7d77; --retry: #f0ad4e; --conflict: #d98ae8; --split: #5fc3e8;
      --parked: #cf9f6c; --halt: #ffffff; --wait: #b07c1e; --stop: #5b616b;
    }
    """

  private static let layout = """

    * { box-sizing: border-box; }
    html { font: 14px/1.45 -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial,
      sans-serif; }
    body { margin: 0; background: var(--page); color: var(--ink); }
    header { display: flex; flex-wrap: wrap; gap: 12px 32px; justify-content: space-between;
      align-items: flex-end; padding: 20px 24px 12px; }
    h1 { font-size: 22px; font-weight: 650; letter-spacing: -.01em; margin: 0;
      overflow-wrap: anywhere; }
    h2 { font-size: 14px; font-weight: 650; margin: 0; }
    h3 { font-size: 12px; font-weight: 600; color: var(--muted); margin: 16px 0 6px; }
    p { margin: 0; }
    #about, .muted { color: var(--muted); }
    #about { overflow-wrap: anywhere; }
    main { padding: 0 24px 24px; display: grid; gap: 14px; }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
      padding: 14px 16px; min-width: 0; }
    .columns { display: grid; gap: 14px; align-items: start;
      grid-template-columns: minmax(0, 1.45fr) minmax(0, 1fr) minmax(0, .95fr); }
    .stack { display: grid; gap: 14px; min-width: 0; }
    @media (max-width: 1180px) {
      .columns { grid-template-columns: minmax(0, 1.2fr) minmax(0, 1fr); }
      .stack { grid-column: 1 / -1; grid-template-columns: 1fr 1fr; align-items: start; }
    }
    @media (max-width: 760px) {
      .columns, .stack { grid-template-columns: minmax(0, 1fr); }
      header { padding: 16px 12px 10px; } main { padding: 0 12px 12px; }
      .card { padding: 12px; } .keys { display: none; }
    }
    .bar { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; }
    .tools { display: flex; gap: 20px; align-items: center; }
    .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden;
      clip-path: inset(50%); white-space: nowrap; }
    .skip { position: absolute; left: -999px; }
    .skip:focus { left: 12px; top: 8px; background: var(--card); padding: 6px 10px; z-index: 9; }
    .notes { margin: 0 24px 14px; padding: 8px 12px 8px 28px; border-radius: 8px;
      background: var(--changed); border: 1px solid var(--line); }
    p.notes { padding-left: 12px; }
    @media (prefers-reduced-motion: no-preference) { button { transition: background .12s; } }
    """

  private static let parts = """

    button, input, select { font: inherit; color: inherit; }
    button, select, input[type=search] { background: var(--card); border: 1px solid var(--line);
      border-radius: 6px; padding: 3px 9px; min-height: 28px; min-width: 0; }
    button { cursor: pointer; } button:hover { background: var(--soft); }
    button[aria-pressed=true] { background: var(--chosen); border-color: var(--accent); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    .group { display: flex; } .group button { border-radius: 0; margin-left: -1px; }
    .group button:first-child { border-radius: 6px 0 0 6px; }
    .group button:last-child { border-radius: 0 6px 6px 0; }
    #totals { display: flex; gap: 20px; margin: 0; }
    #totals div { display: flex; flex-direction: column-reverse; text-align: right; }
    #totals dt { font-size: 12px; color: var(--muted); }
    #totals dd { margin: 0; font-size: 18px; font-weight: 600; }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 12px; list-style: none; padding: 0;
      margin: 0 0 0 auto; font-size: 12px; color: var(--muted); }
    .legend i { display: inline-block; width: 8px; height: 8px; border-radius: 2px;
      margin-right: 5px; background: currentColor; }
    .plot { position: relative; margin-top: 10px; cursor: crosshair; }
    .plot canvas { display: block; width: 100%; }
    #cursor { position: absolute; inset: 0; height: 100%; pointer-events: none; }
    .slide { display: grid; grid-template-columns: auto 1fr auto auto; gap: 8px;
      align-items: center; margin-top: 8px; }
    #slider { width: 100%; margin: 0; accent-color: var(--accent); }
    #position { min-width: 15em; text-align: right; font-variant-numeric: tabular-nums; }
    .keys { margin-top: 8px; font-size: 12px; color: var(--muted); }
    kbd { font: inherit; font-size: 11px; border: 1px solid var(--line); border-radius: 4px;
      padding: 0 4px; background: var(--soft); }
    .filters { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin: 10px 0; }
    .filters span { display: block; font-size: 12px; color: var(--muted); }
    .filters .wide { flex: 1 1 160px; } .filters .wide input, .record input { width: 100%; }
    .filters select { max-width: 150px; } .check { padding-bottom: 4px; }
    .list { height: 560px; overflow-y: auto; border-top: 1px solid var(--line);
      position: relative; outline-offset: -2px; }
    #rows { position: relative; }
    .row { position: absolute; left: 0; right: 0; height: 26px; display: grid; gap: 10px;
      grid-template-columns: 4.2em 6.2em 8.6em minmax(0, 1fr) auto; align-items: center;
      padding: 0 6px; cursor: default; border-left: 3px solid transparent; white-space: nowrap; }
    .row > * { overflow: hidden; text-overflow: ellipsis; }
    .row:hover { background: var(--soft); }
    .row[aria-selected=true] { background: var(--chosen); border-left-color: var(--accent); }
    .number, .time { font-variant-numeric: tabular-nums; text-align: right; }
    .time, .number { color: var(--muted); }
    .chip { font-size: 11px; border: 1px solid currentColor; border-radius: 9px; padding: 0 6px;
      margin-left: 4px; line-height: 16px; display: inline-block; }
    @media (max-width: 760px) {
      .row { grid-template-columns: 4em 8.4em minmax(0, 1fr) auto; }
      .row .time { display: none; } .list { height: 340px; }
      .legend { margin-left: 0; } #position { min-width: 0; grid-column: 1 / -1; }
      .tools { width: 100%; justify-content: space-between; }
      #totals { gap: 14px; } #totals div { text-align: left; } #totals dd { font-size: 16px; }
    }
    table { width: 100%; border-collapse: collapse; }
    th { font-weight: 400; text-align: left; color: var(--muted); vertical-align: top;
      padding: 2px 10px 2px 4px; width: 46%; }
    td { padding: 2px 4px; overflow-wrap: anywhere; vertical-align: top; }
    tbody th[scope=rowgroup] { color: var(--ink); font-weight: 600; padding-top: 9px; }
    #changed th { width: 34%; } thead th { font-size: 12px; }
    tr.new td, tr.new th { background: var(--changed); }
    .record { display: block; margin: 8px 0 6px; }
    #event .lead { font-size: 15px; margin: 6px 0 8px; overflow-wrap: anywhere; }
    #event dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 2px 12px;
      margin: 0; }
    #event dt { color: var(--muted); } #event dd { margin: 0; overflow-wrap: anywhere; }
    .link { border: 0; padding: 0; margin-right: 4px; min-height: 0; background: none; color: var(--accent);
      text-align: left; } .link:hover { text-decoration: underline; background: none; }
    ul.tree { list-style: none; margin: 4px 0 0; padding: 0; }
    ul.tree ul { list-style: none; margin: 0 0 0 10px; padding-left: 8px;
      border-left: 2px solid var(--line); }
    .more { padding: 2px 6px; }
    .node { display: block; width: 100%; border: 0; background: none; text-align: left;
      min-height: 0; padding: 2px 6px; border-radius: 4px; overflow-wrap: anywhere; }
    .node[aria-current] { background: var(--chosen); }
    .node b { font-weight: 600; } .node .muted { font-variant-numeric: tabular-nums; }
    .scroll { max-height: 420px; overflow-y: auto; }
    ol.history { list-style: none; margin: 8px 0 0; padding: 0; }
    pre { max-height: 320px; overflow: auto; background: var(--soft); padding: 8px;
      border-radius: 6px; font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
    details { margin-top: 14px; } summary { cursor: pointer; color: var(--muted); }
    @media print { .filters, .keys, .slide, .tools button { display: none; }
      .list, .scroll { height: auto; max-height: none; } }
    """
}
