import CDEToolKit
import Foundation
import HTTPTypes
import Hummingbird

/// Lets only the browser answer that opened the printed link, and only pages of this program ask.
///
/// Any page of the web can make a browser send requests to 127.0.0.1. The name in `Host` shows a name of the web that leads to this
/// machine, `Origin` another page, and the cookie a browser that never opened the link.
struct StudioGuard: RouterMiddleware {
  typealias Context = BasicRequestContext

  let token: String

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do { response = try await answer(request, context, next) } catch let error as any HTTPResponseError {
      let text =
        switch error.status {
        case .notFound: "The pages have no address \(request.uri.path)."
        case .contentTooLarge: "A change has to be shorter than 20 MB."
        default: "The request can't be read."
        }
      response = refusal(error.status, text)
    }
    response.headers[Self.policy] =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    response.headers[.xContentTypeOptions] = "nosniff"
    response.headers[Self.referrer] = "no-referrer"
    response.headers[Self.opener] = "same-origin"
    response.headers[Self.resource] = "same-origin"
    return response
  }

  private static let policy = HTTPField.Name("Content-Security-Policy")!
  private static let referrer = HTTPField.Name("Referrer-Policy")!
  private static let opener = HTTPField.Name("Cross-Origin-Opener-Policy")!
  private static let resource = HTTPField.Name("Cross-Origin-Resource-Policy")!
  private static let site = HTTPField.Name("Sec-Fetch-Site")!

  private func answer(
    _ request: Request, _ context: Context, _ next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let host = request.head.authority ?? request.headers[.init("Host")!] ?? ""
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    guard ["127.0.0.1", "localhost"].contains(parts.first ?? ""), parts.count <= 2 else {
      return refusal(.forbidden, "This program answers to 127.0.0.1 only.")
    }
    let isRead = request.method == .get || request.method == .head
    if let origin = request.headers[.origin] {
      guard origin == "http://\(host)" else { return refusal(.forbidden, "Another page asked.") }
    } else if !isRead {
      return refusal(.forbidden, "The request does not say which page asks.")
    }
    let isPage = request.uri.path == "/"
    if !isPage, request.headers[Self.site] == "cross-site" {
      return refusal(.forbidden, "Another page asked.")
    }
    let name = "cde-studio-\(parts.count > 1 ? String(parts[1]) : "80")"
    if isPage, isRead, let given = request.uri.queryParameters.get("token") {
      guard isToken(given) else { return unknown() }
      // The token leaves the address, so that a copied link does not contain it.
      let rest = (request.uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("token=") }
      return Response(
        status: .seeOther,
        headers: [
          .location: "/" + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&")),
          .setCookie: "\(name)=\(token); Path=/; HttpOnly; SameSite=Lax", .cacheControl: "no-store",
        ])
    }
    let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
    guard
      cookies.contains(where: { $0.hasPrefix(name + "=") && isToken(String($0.dropFirst(name.count + 1))) })
    else { return unknown() }
    return try await next(request, context)
  }

  /// Compares all bytes, so that the time tells nothing.
  private func isToken(_ text: String) -> Bool {
    let (given, known) = (Array(text.utf8), Array(token.utf8))
    guard given.count == known.count else { return false }
    return zip(given, known).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func unknown() -> Response {
    refusal(
      .unauthorized,
      "Open the link that cde studio printed when it started. Afterwards this address works, too.")
  }

  private func refusal(_ status: HTTPResponse.Status, _ text: String) -> Response {
    StudioAsset.response(
      Array(JSONValue.object([.init("error", .string(text))]).text(indented: false).utf8), "application/json",
      status: status)
  }
}
