import CoreDataEvolution
import Hummingbird
import Logging

/// The stream of changed objects, as server-sent events.
struct EventRoutes: Sendable {
  let feed: EventFeed
  let heartbeat: Duration

  func add<Context: RequestContext>(to router: Router<Context>) {
    router.get("/events") { request, context in try await events(request, context.logger) }
  }

  private func events(_ request: Request, _ logger: Logger) async throws -> Response {
    let query = request.uri.queryParameters
    let wanted = try paths(query["resources"].map(String.init))
    let subscription = try feed.subscribe()
    let place = try await subscription.place(
      request.headers[.lastEventID] ?? query["after"].map(String.init))
    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        // Without this a client that is gone would be noticed by the next event.
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          try await send(subscription, from: place, wanted, &writer, logger)
        }
        try await writer.finish(nil)
      })
  }

  private func send(
    _ subscription: EventSubscription, from start: NSPersistentHistoryToken, _ wanted: Set<String>,
    _ writer: inout any ResponseBodyWriter, _ logger: Logger
  ) async throws {
    var place = start
    // The client knows its place from the beginning, and loses nothing if the connection ends before the first event.
    try await writer.write(ByteBuffer(string: ": connected\nid: \(place.stringRepresentation)\n\n"))
    while true {
      let delivery: EventSubscription.Delivery
      do { delivery = try await subscription.next(after: place, atMost: heartbeat) } catch {
        if error is CancellationError { throw error }
        // The client comes back with its place.
        logger.warning("The events end early.", metadata: ["error": "\(error)"])
        return
      }
      switch delivery {
      case .silence: try await writer.write(ByteBuffer(string: ": silence\n\n"))
      case .isFinished: return
      case .isGone:
        let problem = Problem.historyIsGone
        try await writer.write(
          ByteBuffer(string: "event: expired\ndata: {\"code\":\"\(problem.code)\"}\n\n"))
        return
      case .entries(let entries):
        for entry in entries {
          try await writer.write(text(entry, wanted))
          place = entry.token
        }
      }
    }
  }

  /// The events of one transaction. Only the last one has an ID, so that a client that has read a part of a transaction reads it again.
  private func text(_ entry: EventLog.Entry, _ wanted: Set<String>) -> ByteBuffer {
    var buffer = ByteBuffer()
    let events = entry.events.filter { wanted.contains($0.path) }
    for (index, event) in events.enumerated() {
      buffer.writeImmutableBuffer(event.text)
      if index < events.count - 1 { buffer.writeStaticString("\n") }
    }
    // Without an event an ID alone changes the client's place, and calls none of its handlers.
    buffer.writeString("id: \(entry.token.stringRepresentation)\n\n")
    return buffer
  }

  /// The resources that a client names, with commas between; all of them by default.
  private func paths(_ text: String?) throws -> Set<String> {
    let all = feed.encoder.paths
    guard let text else { return all }
    let names = text.split(separator: ",").map(String.init)
    if let unknown = names.first(where: { !all.contains($0) }) {
      throw Problem.query(
        "There is no resource \(unknown). These are: \(all.sorted().joined(separator: ", ")).")
    }
    return Set(names)
  }
}
