extension String {
  /// A stored statement that makes a trigger, for the main database, whatever the connection's temporary tables are
  /// called; any other statement is as it was.
  var ofMainTrigger: String {
    let prefix = "CREATE TRIGGER "
    return hasPrefix(prefix) ? prefix + "main." + dropFirst(prefix.count) : self
  }
}
