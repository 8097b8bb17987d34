extension ReportPage {
  static let headerTools = """
    <div class="tools">
    <dl id="totals"></dl>
    <button type="button" id="theme" aria-label="Change between light and dark">Dark</button>
    </div>
    """

  static let frame = """
    <main>
    <section class="card timeline" aria-labelledby="h-timeline">
    <div class="bar">
    <h2 id="h-timeline">Timeline</h2>
    <div class="group" role="group" aria-label="Scale of the timeline">
    <button type="button" id="by-event" aria-pressed="true">By event</button>
    <button type="button" id="by-time" aria-pressed="false">By time</button>
    </div>
    <div class="group" role="group" aria-label="Part of the timeline">
    <button type="button" id="zoom-out" aria-label="Zoom out">−</button>
    <button type="button" id="zoom-in" aria-label="Zoom in">+</button>
    <button type="button" id="zoom-all">Whole log</button>
    </div>
    <ul id="legend" class="legend" aria-label="Marks"></ul>
    </div>
    <div class="plot" id="plot">
    <canvas id="lanes" role="img" aria-label="Timeline by kind of operation"></canvas>
    <canvas id="cursor" aria-hidden="true"></canvas>
    </div>
    <div class="slide">
    <button type="button" id="previous" aria-label="Previous event">‹</button>
    <input type="range" id="slider" min="0" max="0" value="0" step="1"
      aria-label="Event" aria-describedby="keys">
    <button type="button" id="next" aria-label="Next event">›</button>
    <output id="position" for="slider"></output>
    </div>
    <p id="keys" class="keys"><kbd>←</kbd> <kbd>→</kbd> step ·
    <kbd>Page ↑</kbd> <kbd>Page ↓</kbd> by 20 ·
    <kbd>Home</kbd> <kbd>End</kbd> first, last · <kbd>E</kbd> next error ·
    <kbd>+</kbd> <kbd>−</kbd> zoom · <kbd>/</kbd> filter · <kbd>Esc</kbd> clear, leave a field</p>
    </section>
    <div class="columns">
    <section class="card events" aria-labelledby="h-events">
    <div class="bar">
    <h2 id="h-events">Events</h2>
    <span id="matches" class="muted" role="status"></span>
    </div>
    <form id="filters" class="filters" role="search" aria-label="Filter events">
    <label class="wide"><span>Text</span>
    <input type="search" id="f-text" autocomplete="off" spellcheck="false"
      placeholder="Words, names, codes"></label>
    <label><span>Kind</span><select id="f-kind"></select></label>
    <label><span>Origin</span><select id="f-origin"></select></label>
    <label class="check"><input type="checkbox" id="f-errors"> Errors and retries only</label>
    <button type="button" id="f-clear">Clear</button>
    </form>
    <div id="list" class="list" role="listbox" tabindex="0" aria-label="Events">
    <div id="rows" role="presentation"></div>
    </div>
    </section>
    <section class="card" aria-labelledby="h-event">
    <h2 id="h-event" tabindex="-1">Event</h2>
    <div id="event"></div>
    <h3 id="h-changed">What changed</h3>
    <div id="changed"></div>
    <h3>State after it</h3>
    <div id="state"></div>
    <details id="whole"><summary>The whole state as JSON</summary>
    <p id="whole-note" class="muted"></p>
    <pre id="whole-json" tabindex="0" aria-label="State as JSON"></pre></details>
    </section>
    <div class="stack">
    <section class="card" aria-labelledby="h-causes">
    <h2 id="h-causes">Causes and consequences</h2>
    <div id="causes"></div>
    </section>
    <section class="card" aria-labelledby="h-record">
    <h2 id="h-record">History of a record</h2>
    <label class="record"><span class="hidden">Record</span>
    <input type="search" id="record" list="record-names" autocomplete="off"
      spellcheck="false" placeholder="Name of a record"></label>
    <datalist id="record-names"></datalist>
    <div id="history"></div>
    </section>
    </div>
    </div>
    </main>
    <p id="spoken" class="hidden" role="status" aria-live="polite"></p>
    """
}
