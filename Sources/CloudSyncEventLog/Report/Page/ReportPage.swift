/// The page around the data of a report: the files beside this one, put into one.
///
/// Its script puts data into the page as text only, never as markup.
package enum ReportPage {
  /// How all reports look.
  package static let style = PackageResources.report_css

  /// All up to the first block of data.
  static func beginning(title: String) -> String { template.beginning(title: title) }

  /// All after the last block of data.
  static let end = template.end

  private static let template = PageTemplate(
    html: PackageResources.report_html,
    styles: [style],
    scripts: [
      PackageResources.data_js, PackageResources.states_js, PackageResources.timeline_js,
      PackageResources.list_js, PackageResources.panels_js, PackageResources.controls_js,
    ]
  )
}
