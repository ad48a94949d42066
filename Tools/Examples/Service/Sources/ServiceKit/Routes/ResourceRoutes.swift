import CoreDataEvolution
import Hummingbird

/// The requests for one kind of object.
struct ResourceRoutes<Entity: Resource>: Sendable {
  /// How long a body is at most, in bytes.
  static var bodyLimit: Int { 1 << 20 }

  let store: ServiceStore

  func add<Context: RequestContext>(to router: Router<Context>) {
    router.get("/\(Entity.path)") { request, _ in try await page(request) }
    router.post("/\(Entity.path)") { request, _ in try await create(request) }
    router.get("/\(Entity.path)/:key") { request, context in try await read(request, try key(context)) }
    router.patch("/\(Entity.path)/:key") { request, context in try await update(request, try key(context)) }
    router.delete("/\(Entity.path)/:key") { request, context in try await delete(request, try key(context)) }
    Self.refuse([.put, .patch, .delete], at: "/\(Entity.path)", allowing: "GET, HEAD, POST", router)
    Self.refuse([.put, .post], at: "/\(Entity.path)/:key", allowing: "GET, HEAD, PATCH, DELETE", router)
  }

  /// Answers methods that a path does not have.
  private static func refuse(
    _ methods: [HTTPRequest.Method], at path: RouterPath, allowing allowed: String,
    _ router: Router<some RequestContext>
  ) {
    for method in methods {
      router.on(path, method: method) { _, _ -> Response in
        var problem = Problem(.methodNotAllowed, "method", "This address has the methods \(allowed).")
        problem.headers[.allow] = allowed
        throw problem
      }
    }
  }

  /// The body of a request that writes.
  ///
  /// - Throws: 415 for a body that says that it is no JSON. A page of another site can send plain text and forms without being asked
  ///   whether it may, but not JSON.
  private static func values(_ request: Request) async throws -> FieldValues {
    if let type = request.headers[.contentType] {
      let name = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
      guard name == "application/json" || name.hasSuffix("+json") else {
        throw Problem(.unsupportedMediaType, "type", "Send the fields as application/json.")
      }
    }
    var request = request
    return try FieldValues(try await request.collectBody(upTo: bodyLimit))
  }

  private func key(_ context: some RequestContext) throws -> String {
    guard let key = context.parameters.get("key")?.removingPercentEncoding else { throw Self.notFound }
    return key
  }

  // MARK: Reading

  private func page(_ request: Request) async throws -> Response {
    let query = try PageQuery<Entity>(request.uri.queryParameters)
    let (body, next) = try await store.read { context in
      var objects = try context.fetch(query.request)
      var next: String?
      if objects.count > query.limit {
        objects.removeLast()
        next = try objects.last.map { try query.next(after: $0) }
      }
      var json = JSONWriter()
      json.beginObject()
      json.beginArray("items")
      for object in objects { object.write(to: &json, isDetail: false) }
      json.endArray()
      json.member("next", next.map { .text($0) } ?? .null)
      json.endObject()
      return (json.buffer, next)
    }
    var headers = Self.jsonHeaders
    if let next { headers[.link] = "<\(next)>; rel=\"next\"" }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
  }

  private func read(_ request: Request, _ key: String) async throws -> Response {
    let known = request.headers[.ifNoneMatch].map(EntityTags.init)
    let answer = try await store.read { context in
      guard let object = try Entity.find(key, in: context) else { throw Self.notFound }
      return try object.representation()
    }
    if let known, known.contains(answer.tag) {
      return Response(status: .notModified, headers: [.eTag: answer.tag])
    }
    return Self.response(.ok, answer)
  }

  // MARK: Writing

  private func create(_ request: Request) async throws -> Response {
    let values = try await Self.values(request)
    for field in Entity.fields where field.isRequired && values.values[field.name] == nil {
      throw Problem.field(field.name, of: Entity.entityName, "The field \(field.name) is required.")
    }
    let (answer, address) = try await store.write { context in
      let object = Entity(context: context)
      try object.set(values, in: context)
      object.knowRelatedObjects()
      try context.save()
      return (try object.representation(), object.resourceAddress)
    }
    var response = Self.response(.created, answer)
    response.headers[.location] = address
    return response
  }

  private func update(_ request: Request, _ key: String) async throws -> Response {
    let expected = try expectedTags(request)
    let values = try await Self.values(request)
    let answer = try await changing(key, expected) { object, context in
      try object.set(values, in: context)
      // An object that gets the values it has is not written, and keeps its version.
      if object.hasPersistentChangedValues { try context.save() }
      return try object.representation()
    }
    return Self.response(.ok, answer)
  }

  private func delete(_ request: Request, _ key: String) async throws -> Response {
    try await changing(key, try expectedTags(request)) { object, context in
      context.delete(object)
      try context.save()
    }
    return Response(status: .noContent)
  }

  /// Changes an object if it is still what the client has read.
  ///
  /// It is compared twice: here by its tag, and by the save, which fails if another writer was faster.
  private func changing<Value: Sendable>(
    _ key: String, _ expected: EntityTags,
    _ work: @escaping @Sendable (Entity, NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    do {
      return try await store.write { context in
        guard let object = try Entity.find(key, in: context) else { throw Self.notFound }
        guard expected.contains(try object.representation().tag) else { throw Problem.versionHasChanged }
        return try work(object, context)
      }
    } catch {
      throw Problem(error, isConditional: !expected.isAny)
    }
  }

  private func expectedTags(_ request: Request) throws -> EntityTags {
    guard let text = request.headers[.ifMatch] else {
      throw Problem(
        .preconditionRequired, "version",
        "Send the object's ETag as If-Match, or If-Match: * to change whatever version there is.")
    }
    return EntityTags(text)
  }

  // MARK: Answers

  private static var notFound: Problem {
    Problem(.notFound, "missing", "There is no \(Entity.entityName) of this key.")
  }

  private static var jsonHeaders: HTTPFields { [.contentType: "application/json"] }

  private static func response(_ status: HTTPResponse.Status, _ answer: Representation) -> Response {
    var headers = jsonHeaders
    headers[.eTag] = answer.tag
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: answer.body))
  }
}

/// The entity tags that a request lists in `If-Match` or `If-None-Match`.
struct EntityTags: Sendable {
  let isAny: Bool
  private let tags: [String]

  init(_ text: String) {
    tags = text.split(separator: ",").map { tag in
      let tag = tag.trimmingCharacters(in: .whitespaces)
      // Proxies that compress an answer weaken its tag.
      return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    }
    isAny = tags == ["*"]
  }

  func contains(_ tag: String) -> Bool { isAny || tags.contains(tag) }
}
