import CoreDataEvolution
import Hummingbird
import Metrics
import Synchronization

/// Answers each error with a problem, and logs those that a client can't have caused.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch {
      // A connection that is closed gets no answer.
      if error is CancellationError { throw error }
      let problem = Problem(error)
      if problem.status.code >= 500, problem.code != "overloaded" {
        context.logger.warning(
          "A request has failed.",
          metadata: [
            "method": "\(request.method)", "path": "\(request.uri.path)", "code": "\(problem.code)",
            "error": "\(error)",
          ])
      }
      return problem.response()
    }
  }
}

/// Counts requests, and measures the time until their answer begins.
final class MetricsMiddleware<Context: RequestContext>: RouterMiddleware {
  private struct Kind: Hashable {
    var method: String
    /// The route's pattern and not the address: a label for each object would need memory for each.
    var route: String
    var status: Int
  }

  private let metrics: any MetricsFactory
  /// The timers by what they measure. A new one for each request would write and escape its labels each time.
  private let timers = Mutex<[Kind: Metrics.Timer]>([:])

  init(metrics: any MetricsFactory) { self.metrics = metrics }

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    let response = try await next(request, context)
    let kind = Kind(
      method: request.method.rawValue, route: context.endpointPath ?? "none", status: response.status.code)
    timer(kind).recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
    return response
  }

  private func timer(_ kind: Kind) -> Metrics.Timer {
    timers.withLock { timers in
      if let timer = timers[kind] { return timer }
      let dimensions = [("method", kind.method), ("route", kind.route), ("status", "\(kind.status)")]
      let timer = Metrics.Timer(label: "http_request", dimensions: dimensions, factory: metrics)
      timers[kind] = timer
      return timer
    }
  }
}

/// Ends connections after an answer while the service stops, and answers new requests by 503.
struct DrainMiddleware<Context: RequestContext>: RouterMiddleware {
  let drain: Drain

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    if drain.hasBegun { response.headers[.connection] = "close" }
    return response
  }
}
