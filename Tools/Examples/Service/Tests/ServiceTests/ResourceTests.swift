import CoreDataEvolution
import Testing

@testable import ServiceKit

@Suite("Resources: reading, making, changing, deleting", .timeLimit(.minutes(5)))
struct ResourceTests {
  @Test("An object is made, read, changed and deleted", arguments: Engine.available)
  func life(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      let made = try await service.makePackage("bash")
      #expect(made.headers["location"] == "/packages/bash")
      let tag = try #require(made.headers["etag"])

      let read = try await service.send("GET", "/packages/bash")
      #expect(read.status == 200)
      #expect(read.headers["etag"] == tag)
      #expect(try read.json()["name"] as? String == "bash")
      #expect(try read.json()["versions"] as? [String] == [])

      let renamed = try await service.send("PATCH", "/packages/bash", ["If-Match": tag], #"{"name":"dash"}"#)
      #expect(renamed.status == 200)
      let newTag = try #require(renamed.headers["etag"])
      #expect(newTag != tag)
      #expect(try await service.send("GET", "/packages/bash").status == 404)

      #expect(try await service.send("DELETE", "/packages/dash", ["If-Match": newTag]).status == 204)
      #expect(try await service.send("GET", "/packages/dash").status == 404)
    }
  }

  @Test("An address answers HEAD, and says which methods it has", arguments: Engine.available)
  func methods(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      let made = try await service.makePackage("bash")
      for address in ["/packages/bash", "/packages", "/health/live"] {
        let head = try await service.send("HEAD", address)
        #expect(head.status == 200 && head.body.isEmpty, "\(address)")
      }
      #expect(try await service.send("HEAD", "/packages/bash").headers["etag"] == made.headers["etag"])
      #expect(try await service.send("HEAD", "/packages/dash").status == 404)
      for (method, address, allowed) in [
        ("PUT", "/packages", "GET, HEAD, POST"), ("DELETE", "/packages", "GET, HEAD, POST"),
        ("POST", "/packages/bash", "GET, HEAD, PATCH, DELETE"),
        ("PUT", "/packages/bash", "GET, HEAD, PATCH, DELETE"),
      ] {
        let reply = try await service.send(method, address, [:], "{}")
        #expect(reply.status == 405 && reply.headers["allow"] == allowed, "\(method) \(address)")
      }
      #expect(try await service.send("PUT", "/nothing").status == 404)
    }
  }

  @Test("A body that says that it is no JSON is refused by 415", arguments: Engine.available)
  func types(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for type in [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=json", "json",
      ] {
        let reply = try await service.send("POST", "/packages", ["Content-Type": type], #"{"name":"a"}"#)
        #expect(reply.status == 415, "\(type)")
      }
      for (name, type) in [
        ("a", "application/json"), ("b", "Application/JSON; charset=utf-8"), ("c", "application/x+json"),
      ] {
        let reply = try await service.send(
          "POST", "/packages", ["Content-Type": type], "{\"name\":\"\(name)\"}")
        #expect(reply.status == 201, "\(type)")
      }
    }
  }

  @Test("A name that makes no address, or no header, is refused by 422", arguments: Engine.available)
  func unfitNames(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for name in ["", ".", "..", "a b", "a\\u0000", "a\\nb", String(repeating: "k", count: 201)] {
        let reply = try await service.send("POST", "/packages", [:], "{\"name\":\"\(name)\"}")
        #expect(reply.status == 422, "\(name)")
        let failures = try reply.json()["errors"] as? [[String: Any]]
        #expect(failures?.first?["field"] as? String == "name")
      }
      let long = String(repeating: "é", count: 200)
      #expect(try await service.send("POST", "/packages", [:], "{\"name\":\"\(long)\"}").status == 201)
      #expect(try await service.send("GET", "/packages?limit=1").status == 200)
      #expect(
        try await service.send("POST", "/maintainers", [:], #"{"name":"Ada B. <ada@b>"}"#).status == 201)
    }
  }

  @Test("The versions of a package that gets another name have other keys", arguments: Engine.available)
  func renamedPackage(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      try await service.makePackage("bash")
      try await service.makeVersion("bash", "5.2")
      let renamed = try await service.send(
        "PATCH", "/packages/bash", ["If-Match": "*"], #"{"name":"dash"}"#)
      #expect(try renamed.json()["versions"] as? [String] == ["dash 5.2 amd64"])
      #expect(try await service.send("GET", "/versions/bash%205.2%20amd64").status == 404)
      #expect(
        try await service.send("GET", "/versions/dash%205.2%20amd64").json()["package"] as? String == "dash")
      try await service.makePackage("bash")
      #expect(try await service.makeVersion("bash", "5.2").status == 201)
    }
  }

  @Test("Related objects are shown and set by their names", arguments: Engine.available)
  func relationships(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for name in ["bash", "libc6", "sh"] { try await service.makePackage(name) }
      try await service.send("POST", "/sections", [:], #"{"name":"contrib/net"}"#)
      let made = try await service.makeVersion(
        "bash", "5.2", #","section":"contrib/net","dependencies":["libc6","sh"],"installedSize":12"#)
      #expect(made.headers["location"] == "/versions/bash%205.2%20amd64")
      let address = try #require(made.headers["location"])
      let version = try await service.send("GET", address).json()
      #expect(version["package"] as? String == "bash")
      #expect(version["section"] as? String == "contrib/net")
      #expect(version["maintainer"] is NSNull)
      #expect(version["dependencies"] as? [String] == ["libc6", "sh"])
      #expect(version["installedSize"] as? Int == 12)
      #expect(
        try await service.send("GET", "/packages/bash").json()["versions"] as? [String] == ["bash 5.2 amd64"])
      #expect(try await service.send("GET", "/sections/contrib%2Fnet").status == 200)

      let tag = try #require(made.headers["etag"])
      let changed = try await service.send(
        "PATCH", address, ["If-Match": tag], #"{"dependencies":["sh"],"section":null,"number":"5.3"}"#)
      #expect(changed.status == 200)
      let json = try changed.json()
      #expect(json["dependencies"] as? [String] == ["sh"])
      #expect(json["section"] is NSNull)
      #expect(json["key"] as? String == "bash 5.3 amd64")
    }
  }

  @Test(
    "A change needs the tag of what is stored: 428 without, 412 with an older one",
    arguments: Engine.available)
  func optimisticConcurrency(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      try await service.makePackage("bash")
      let made = try await service.makeVersion("bash", "5.2")
      let tag = try #require(made.headers["etag"])
      let address = try #require(made.headers["location"])
      #expect(try await service.send("PATCH", address, [:], #"{"summary":"a"}"#).status == 428)
      #expect(try await service.send("PATCH", address, ["If-Match": tag], #"{"summary":"a"}"#).status == 200)
      let late = try await service.send("PATCH", address, ["If-Match": tag], #"{"summary":"b"}"#)
      #expect(late.status == 412)
      #expect(try late.json()["code"] as? String == "version")
      #expect(try await service.send("DELETE", address, ["If-Match": tag]).status == 412)
      #expect(try await service.send("PATCH", address, ["If-Match": "*"], #"{"summary":"c"}"#).status == 200)
      #expect(try await service.send("GET", address).json()["summary"] as? String == "c")
    }
  }

  @Test(
    "Of many requests that change one version exactly one succeeds, each time", arguments: Engine.available)
  func races(_ engine: Engine) async throws {
    try await TestService.run(engine, { $0.writers = 4 }) { service in
      try await service.makePackage("bash")
      let made = try await service.makeVersion("bash", "5.2")
      let address = try #require(made.headers["location"])
      var tag = try #require(made.headers["etag"])
      for round in 0..<5 {
        let expected = tag
        let replies = try await withThrowingTaskGroup(of: HTTPConnection.Reply.self) { group in
          for client in 0..<6 {
            group.addTask {
              try await service.send(
                "PATCH", address, ["If-Match": expected], #"{"summary":"\#(round) \#(client)"}"#)
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.map(\.status).sorted() == [200, 412, 412, 412, 412, 412])
        let winner = try #require(replies.first { $0.status == 200 })
        tag = try #require(winner.headers["etag"])
        let read = try await service.send("GET", address)
        #expect(read.headers["etag"] == tag)
        #expect(try read.json()["summary"] as? String == (try winner.json()["summary"] as? String))
      }
    }
  }

  @Test(
    "A tag changes with each part of what is shown, and a client that has it gets 304",
    arguments: Engine.available)
  func cache(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      try await service.makePackage("bash")
      let tag = try #require(try await service.send("GET", "/packages/bash").headers["etag"])
      #expect(try await service.send("GET", "/packages/bash", ["If-None-Match": tag]).status == 304)
      // The package's row stays as it is.
      try await service.makeVersion("bash", "5.2")
      let read = try await service.send("GET", "/packages/bash", ["If-None-Match": "W/\"x\", \(tag)"])
      #expect(read.status == 200)
      #expect(read.headers["etag"] != tag)
    }
  }

  @Test("A value that must be unique is refused by 409 with the constraint", arguments: Engine.available)
  func uniqueness(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      try await service.makePackage("bash")
      let tag = try #require(try await service.makePackage("dash").headers["etag"])
      for reply in [
        try await service.send("POST", "/packages", [:], #"{"name":"bash"}"#),
        try await service.send("PATCH", "/packages/dash", ["If-Match": tag], #"{"name":"bash"}"#),
      ] {
        #expect(reply.status == 409)
        #expect(reply.headers["content-type"] == "application/problem+json")
        let json = try reply.json()
        #expect(json["code"] as? String == "uniqueness")
        #expect(json["entity"] as? String == "Package")
        #expect(json["constraint"] as? [String] == ["name"])
        #expect(json["detail"] as? String == "Another Package has the same name.")
      }
    }
  }

  @Test(
    "What breaks a rule is refused by 422 with entity, field and message",
    arguments: [
      (#"{"name":""}"#, "/packages", "Package", "name"),
      (#"{}"#, "/packages", "Package", "name"),
      (#"{"name":7}"#, "/packages", "Package", "name"),
      (#"{"name":"a","colour":"red"}"#, "/packages", "Package", "colour"),
      (#"{"name":"a","versions":[]}"#, "/packages", "Package", "versions"),
      (
        #"{"package":"bash","number":"1","architecture":"all","installedSize":-1}"#, "/versions", "Version",
        "installedSize"
      ),
      (#"{"package":"none","number":"1","architecture":"all"}"#, "/versions", "Version", "package"),
      (
        #"{"package":"bash","number":"1","architecture":"all","dependencies":["none"]}"#, "/versions",
        "Version", "dependencies"
      ),
      (#"{"package":null,"number":"1","architecture":"all"}"#, "/versions", "Version", "package"),
    ])
  func validation(_ body: String, _ path: String, _ entity: String, _ field: String) async throws {
    try await TestService.run(.sqlite) { service in
      try await service.makePackage("bash")
      let reply = try await service.send("POST", path, [:], body)
      #expect(reply.status == 422)
      let json = try reply.json()
      #expect(json["code"] as? String == "validation")
      #expect(json["entity"] as? String == entity)
      let errors = try #require(json["errors"] as? [[String: String]])
      #expect(errors.map { $0["field"] } == [field])
      // A client can do nothing with addresses of objects and names of Swift.
      let message = errors.first?["message"] ?? ""
      #expect(
        message.hasSuffix(".") && !message.contains("x-coredata") && !message.contains("`"), "\(message)")
      #expect(json["detail"] as? String == message)
    }
  }

  @Test("A body that is no object, too large a body and an unknown address are refused")
  func requests() async throws {
    try await TestService.run(.sqlite) { service in
      #expect(try await service.send("POST", "/packages", [:], "[").status == 400)
      #expect(try await service.send("POST", "/packages", [:], "[1]").status == 400)
      let large = "{\"name\":\"" + String(repeating: "a", count: 1 << 20) + "\"}"
      #expect(try await service.send("POST", "/packages", [:], large).status == 413)
      let missing = try await service.send("GET", "/nothing")
      #expect(missing.status == 404)
      #expect(try missing.json()["status"] as? Int == 404)
    }
  }

  @Test("Texts of all kinds come back as they were sent", arguments: Engine.available)
  func texts(_ engine: Engine) async throws {
    try await TestService.run(engine) { service in
      for name in [
        "a\"b\\c", "line\nbreak\ttab\u{1}", "Zoë 🦊 漢字", "50% & more?=#/ +", "'; DROP TABLE ZPACKAGE; --",
      ] {
        let body = try JSONSerialization.data(withJSONObject: ["name": name])
        let made = try await service.send("POST", "/maintainers", [:], String(decoding: body, as: UTF8.self))
        #expect(made.status == 201)
        let read = try await service.send("GET", try #require(made.headers["location"]))
        #expect(try read.json()["name"] as? String == name)
        let found = try await service.send("GET", "/maintainers?name=\(name.escaped)")
        #expect((try found.json()["items"] as? [[String: Any]])?.map { $0["name"] as? String } == [name])
      }
    }
  }
}
