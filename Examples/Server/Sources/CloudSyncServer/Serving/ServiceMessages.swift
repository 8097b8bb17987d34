import CloudSyncService

// Hummingbird has types of these names too.
typealias ServiceRequest = HTTPRequest
typealias ServiceResponse = HTTPResponse
typealias ServiceFile = HTTPFile
typealias ServiceHeaders = HTTPHeaders

extension ServiceResponse {
  /// A response that says why nothing was done, as the API does.
  static func refusal(
    status: Int,
    code: String,
    _ reason: String,
    retryAfter: Int? = nil
  ) -> ServiceResponse {
    var body = "{\"serverErrorCode\":\"\(code)\",\"reason\":\"\(reason)\""
    if let retryAfter { body += ",\"retryAfter\":\(retryAfter)" }
    var response = ServiceResponse(
      status: status,
      headers: ["Content-Type": "application/json"],
      body: Array((body + "}").utf8)
    )
    if let retryAfter { response.headers["Retry-After"] = "\(retryAfter)" }
    return response
  }

  /// The server has no room for one more request just now.
  static func busy() -> ServiceResponse {
    refusal(
      status: 503,
      code: "TRY_AGAIN_LATER",
      "the server is busy",
      retryAfter: 1
    )
  }
}
