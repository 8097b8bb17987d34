import CPostgres

/// A connection string or an address, as libpq reads it.
public enum PostgresConninfo {
  /// Finds out what is wrong with one that was given as an argument of a program.
  ///
  /// - Parameter conninfo: `host=… dbname=…`, or `postgresql://…`.
  /// - Returns: A sentence; nil if it can be used. A password is refused, because everybody on the machine can
  ///   read the arguments of a process; the sentence does not repeat it.
  public static func problem(_ conninfo: String) -> String? {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(conninfo, &message) else {
      PQfreemem(message)
      return
        "it is no connection string, as in “host=db.example.org dbname=cloudsync user=cloudsync”"
    }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      let isSecret = ["password", "sslpassword"].contains(String(cString: keyword))
      if isSecret, let value = option.pointee.val, value.pointee != 0 {
        return
          "it has a password, which everybody on this machine could read: keep it in a file that only the "
          + "server's user may read, and name the file with passfile=FILE or PGPASSFILE"
      }
      option += 1
    }
    return nil
  }
}
