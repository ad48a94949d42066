import CoreDataEvolution
import Hummingbird

/// An answer that is no success, as RFC 9457 describes it (`application/problem+json`).
struct Problem: Error {
  /// What is wrong with one field.
  struct Failure: Sendable, Equatable {
    var entity: String?
    var field: String?
    var message: String
  }

  var status: HTTPResponse.Status
  /// For programs: stays the same when texts change.
  var code: String
  /// For people.
  var detail: String
  var entity: String?
  /// The properties that have to be unique together.
  var constraint: [String] = []
  var failures: [Failure] = []
  /// After which number of seconds to try again.
  var retryAfter: Int?
  var headers: HTTPFields = [:]

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
    self.status = status
    self.code = code
    self.detail = detail
  }

  /// The answer to a field that can't be used.
  static func field(_ field: String, of entity: String, _ message: String) -> Problem {
    var problem = Problem(.unprocessableContent, "validation", message)
    problem.entity = entity
    problem.failures = [Failure(entity: entity, field: field, message: message)]
    return problem
  }

  /// The answer to a query that can't be used.
  static func query(_ detail: String) -> Problem { Problem(.badRequest, "query", detail) }

  static func later(_ code: String, _ detail: String, seconds: Int = 1) -> Problem {
    var problem = Problem(.serviceUnavailable, code, detail)
    problem.retryAfter = seconds
    return problem
  }
}

extension Problem: HTTPResponseError {
  func response(from request: Request, context: some RequestContext) -> Response { response() }

  func response() -> Response {
    var json = JSONWriter()
    json.beginObject()
    json.member("title", .text(status.reasonPhrase))
    json.member("status", .integer(status.code))
    json.member("code", .text(code))
    json.member("detail", .text(detail))
    if let entity { json.member("entity", .text(entity)) }
    if !constraint.isEmpty { json.member("constraint", .texts(constraint)) }
    if !failures.isEmpty {
      json.beginArray("errors")
      for failure in failures {
        json.beginObject()
        if let entity = failure.entity { json.member("entity", .text(entity)) }
        if let field = failure.field { json.member("field", .text(field)) }
        json.member("message", .text(failure.message))
        json.endObject()
      }
      json.endArray()
    }
    json.endObject()
    var headers = headers
    headers[.contentType] = "application/problem+json"
    if let retryAfter { headers[.retryAfter] = "\(retryAfter)" }
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: json.buffer))
  }
}
