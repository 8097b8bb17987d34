import CSQLiteConfig

extension SQLiteConnection {
  /// Runs a body during which the connection calls no trigger; actions of foreign keys are done as ever.
  ///
  /// The schema stays as it is, so no other connection has to read it again.
  package func withoutTriggers<Value>(
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    var isEnabled: Int32 = 0
    try configureTriggers(-1, &isEnabled)
    let former = isEnabled
    try configureTriggers(0, &isEnabled)
    let value: Value
    do throws(SQLiteError) { value = try body() } catch {
      try configureTriggers(former, &isEnabled)
      throw error
    }
    try configureTriggers(former, &isEnabled)
    return value
  }

  private func configureTriggers(
    _ setting: Int32,
    _ isEnabled: inout Int32
  ) throws(SQLiteError) {
    let code = unsafe cloudsync_configure_triggers(handle, setting, &isEnabled)
    if code != 0 { throw unsafe Self.error(code, handle: handle) }
  }
}
