import CoreDataEvolution
import Foundation
import Synchronization
import Testing

@testable import CDEStudio
@testable import CDEToolKit

/// An answer of a server, as it came over the wire.
private struct WireAnswer {
  var status = 0
  var headers: [String: String] = [:]
  var body = Data()

  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSONValue? { try? JSONValue(reading: body) }
}

/// Sends a request as it stands, so that each header is the test's.
private func send(
  _ method: String, _ path: String, port: Int, headers: [String: String] = [:], body: String = "",
  until: String? = nil
) async throws -> WireAnswer {
  var text =
    "\(method) \(path) HTTP/1.1\r\nHost: \(headers["Host"] ?? "127.0.0.1:\(port)")\r\nConnection: close\r\n"
  for (name, value) in headers where name != "Host" { text += "\(name): \(value)\r\n" }
  text += "Content-Length: \(body.utf8.count)\r\n\r\n" + body
  let request = Array(text.utf8)
  let bytes = try await Studio.blocking { () throws -> [UInt8] in
    let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw CocoaError(.fileReadUnknown) }
    _ = request.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(socket, &buffer, buffer.count)
      if count <= 0 { return answer }
      answer += buffer[0..<count]
      if let until, String(decoding: answer, as: UTF8.self).contains(until) { return answer }
    }
  }
  var answer = WireAnswer()
  let data = Data(bytes)
  guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { return answer }
  let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
  answer.status = Int(lines[0].split(separator: " ")[1]) ?? 0
  for line in lines.dropFirst() {
    let parts = line.split(separator: ":", maxSplits: 1)
    if parts.count == 2 {
      answer.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
  }
  answer.body = data[end.upperBound...]
  return answer
}

@Suite("The pages' server", .timeLimit(.minutes(2)))
struct StudioServerTests {
  /// Runs a server for a closure, and ends it.
  private func serving(
    _ library: Library, isWritable: Bool = false,
    _ body: (_ port: Int, _ cookie: [String: String], _ studio: Studio) async throws -> Void
  ) async throws {
    let studio = try Studio(library.place, isWritable: isWritable)
    let server = StudioServer(studio, token: "secret")
    let (ports, started) = AsyncStream.makeStream(of: Int.self)
    let task = Task { try await server.run(port: 0) { started.yield($0) } }
    var waiting = ports.makeAsyncIterator()
    let port = try #require(await waiting.next())
    do { try await body(port, ["Cookie": "other=1; cde-studio-\(port)=secret"], studio) } catch {
      task.cancel()
      throw error
    }
    task.cancel()
    _ = await task.result
    studio.close()
  }

  @Test("The printed link gives the browser a cookie, and the address loses the token")
  func token() async throws {
    let library = try Library()
    defer { library.remove() }
    try await serving(library) { port, cookie, _ in
      let first = try await send("GET", "/?view=rows&token=secret&entity=Book", port: port)
      #expect(first.status == 303 && first.headers["location"] == "/?view=rows&entity=Book")
      #expect(first.headers["set-cookie"] == "cde-studio-\(port)=secret; Path=/; HttpOnly; SameSite=Lax")
      #expect(try await send("GET", "/?token=secret", port: port).headers["location"] == "/")
      for headers in [[:], ["Cookie": "cde-studio-\(port)=secreT"], ["Cookie": "cde-studio-1=secret"]] {
        for path in ["/", "/studio.js", "/api/store", "/?token=other"] {
          let refused = try await send("GET", path, port: port, headers: headers)
          #expect(refused.status == 401 && refused.text.contains("Open the link"), "\(path)")
        }
      }
      let page = try await send("GET", "/", port: port, headers: cookie)
      #expect(page.status == 200 && page.text.contains("<!doctype html>"))
      #expect(
        page.headers["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
      #expect(page.headers["x-content-type-options"] == "nosniff")
    }
  }

  @Test("Other names of the machine and other pages are refused")
  func origins() async throws {
    let library = try Library()
    defer { library.remove() }
    try await serving(library, isWritable: true) { port, cookie, studio async throws in
      func status(_ method: String, _ path: String, _ headers: [String: String], _ body: String = "{}")
        async throws -> Int
      {
        try await send(
          method, path, port: port, headers: cookie.merging(headers) { $1 }, body: method == "GET" ? "" : body
        ).status
      }
      #expect(try await status("GET", "/api/store", [:]) == 200)
      #expect(try await status("GET", "/api/store", ["Host": "localhost:\(port)"]) == 200)
      #expect(try await status("GET", "/api/store", ["Host": "evil.example:\(port)"]) == 403)
      #expect(try await status("GET", "/api/store", ["Origin": "http://evil.example"]) == 403)
      #expect(try await status("GET", "/api/store", ["Sec-Fetch-Site": "cross-site"]) == 403)
      let edit = #"{"id": "Book/p1", "values": {"pages": "1"}}"#
      #expect(try await status("POST", "/api/edit", [:], edit) == 403)
      #expect(try await status("POST", "/api/edit", ["Origin": "http://127.0.0.1:1"], edit) == 403)
      #expect(try studio.object("Book/p1")["attributes"]?.named("pages")?["value"]?.words == "100")
      #expect(try await status("POST", "/api/edit", ["Origin": "http://127.0.0.1:\(port)"], edit) == 200)
      #expect(try studio.object("Book/p1")["attributes"]?.named("pages")?["value"]?.words == "1")
    }
  }

  @Test("Each route answers with JSON, and a mistake with a sentence")
  func routes() async throws {
    let library = try Library()
    defer { library.remove() }
    try await serving(library) { port, cookie, _ in
      func get(_ path: String) async throws -> WireAnswer {
        try await send("GET", path, port: port, headers: cookie)
      }
      let rows = try await get(
        "/api/rows?entity=Book&where=title%20%3D%3D%20'Volume%203'&sort=-pages,title&limit=5")
      #expect(rows.json?.column(0) == [.string("Book/p3")])
      #expect(rows.headers["content-type"] == "application/json")
      #expect(try await get("/api/count?entity=Book&of=Person/p1.books").json?["count"]?.number == 9)
      #expect(try await get("/api/find?text=ada%20byron").json?.list.first?["id"]?.words == "Person/p1")
      for path in [
        "store", "counts", "object?id=Book/p1", "members?id=Person/p1&name=books&at=2", "history?id=Book/p1",
        "complete?entity=Book&text=ti", "commits", "commit?number=1", "queries",
      ] {
        let answer = try await get("/api/" + path)
        #expect(answer.status == 200 && answer.json != nil, "\(path): \(answer.text)")
      }
      let picture = try await get("/api/value?id=Book/p1&name=cover")
      #expect(picture.headers["content-type"] == "image/png" && picture.body.count == 6)
      #expect(try await get("/api/diagram").text.hasPrefix("<svg"))
      for (path, status) in [
        ("rows?entity=Bok", 400), ("rows", 400), ("rows?entity=Book&where=pages%20%3E", 400),
        ("object?id=Book/p99", 404),
        ("undo", 403), ("plan?number=999", 404), ("value?id=Book/p1&name=title", 404),
      ] {
        let answer = try await get("/api/" + path)
        #expect(
          answer.status == status && answer.json?["error"]?.words?.hasSuffix(".") == true,
          "\(path): \(answer.text)")
      }
    }
  }

  @Test("Without --write every writing route is refused, and the file stays as it is")
  func refusals() async throws {
    let library = try Library()
    defer { library.remove() }
    let before = try library.contents()
    try await serving(library) { port, cookie, _ in
      for path in ["/api/edit", "/api/undo", "/api/redo"] {
        let answer = try await send(
          "POST", path, port: port, headers: cookie.merging(["Origin": "http://127.0.0.1:\(port)"]) { $1 },
          body: #"{"delete": ["Book/p1"]}"#)
        #expect(answer.status == 403 && answer.json?["error"]?.words?.contains("--write") == true, "\(path)")
      }
    }
    #expect(try library.contents() == before)
  }

  @Test(
    "Addresses that do not exist, texts that are no JSON, and long ones are refused with a sentence and all headers"
  )
  func strangeRequests() async throws {
    let library = try Library()
    defer { library.remove() }
    try await serving(library, isWritable: true) { port, cookie, _ in
      let writing = cookie.merging(["Origin": "http://127.0.0.1:\(port)"]) { $1 }
      for (method, path, body, status) in [
        ("GET", "/absent", "", 404), ("POST", "/api/absent", "{}", 404), ("GET", "/api/edit", "", 404),
        ("POST", "/api/edit", "{", 400),
        ("POST", "/api/edit", "[1", 400),
        ("POST", "/api/edit", String(repeating: " ", count: 20_000_001), 413),
      ] {
        let answer = try await send(method, path, port: port, headers: writing, body: body)
        #expect(
          answer.status == status && answer.json?["error"]?.words?.hasSuffix(".") == true,
          "\(path): \(answer.status) \(answer.text)")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
      }
      for path in ["/", "/studio.js", "/api/rows?entity=Book"] {
        let (head, get) = (
          try await send("HEAD", path, port: port, headers: cookie),
          try await send("GET", path, port: port, headers: cookie)
        )
        #expect(
          head.status == 200 && head.body.isEmpty
            && head.headers["content-length"] == get.headers["content-length"], "\(path)")
      }
    }
  }

  @Test("Commits come as events")
  func events() async throws {
    let library = try Library()
    defer { library.remove() }
    try await serving(library, isWritable: true) { port, cookie, studio in
      async let answer = send("GET", "/api/events", port: port, headers: cookie, until: "\"inserted\":1")
      // The events are of one connection after the other: the first edit may come before it is there.
      for number in 0..<200 {
        let edit = JSONValue.object([
          .init("entity", .string("Tag")),
          .init("values", .object([.init("name", .string("tag \(number)"))])),
        ])
        _ = try studio.edit(StudioEdit(edit))
        let seen = try await send("GET", "/api/events", port: port, headers: cookie, until: "\"state\"")
        #expect(seen.headers["content-type"] == "text/event-stream")
        if number > 2 { break }
      }
      #expect(try await answer.text.contains("\"author\":\"cde\""))
    }
  }

  @Test("The pages are less than 300 KB, and have no address of another machine")
  func size() {
    let bytes = StudioAsset.all.reduce(0) { $0 + $1.bytes.count }
    #expect(bytes > 10_000 && bytes < 300_000)
    for asset in StudioAsset.all where !asset.path.hasSuffix(".svg") {
      let text = String(decoding: asset.bytes, as: UTF8.self)
      let addresses = text.matches(of: #/https?:\/\/[a-z0-9.]+/#).map { String($0.output) }
      #expect(addresses == [], "\(asset.path)")
      #expect(!text.contains("innerHTML") && !text.contains("insertAdjacentHTML"), "\(asset.path)")
    }
  }
}
