@_spi(CDE) internal import CDEExecutors

/// What a profile recorded. ``description`` is the text that `CDE_PROFILE=1` prints, ``html`` a page with a timeline.
public struct CDEProfileReport: Sendable, Codable, CustomStringConvertible {
  /// Events that came from one line, or from one function of a program without line tables.
  public struct Place: Sendable, Codable, Hashable {
    /// The file and the line; nil if debug information does not tell.
    public let place: String?
    /// How many events: exact up to 32 of a kind, an estimate beyond.
    public let count: Int
  }

  /// What would have read the rows of a run of faults at once.
  public struct Remedy: Sendable, Codable, Hashable {
    /// The entity of the fetch that made the objects; nil if no fetch of several objects did.
    public let entity: String?
    /// What the fetch should name in `relationshipKeyPathsForPrefetching`. If there are several, one of them leads to the objects. If
    /// there are none, the objects' own rows should be fetched together.
    public let keyPaths: [String]
    /// Where the fetch is; nil if unknown.
    public let place: String?
  }

  /// Single faults of one kind: rows that were read one by one, or the members of a relationship for one owner after the other.
  public struct Fault: Sendable, Codable, Hashable {
    /// The entity of the objects, or of the relationship's owners.
    public let entity: String
    /// The relationship; nil for faults of objects.
    public let relationship: String?
    /// How many faults.
    public let count: Int
    /// How many of them belong to runs of at least ten in one context: reading them one by one was a choice.
    public let repeated: Int
    /// Where they come from, the most frequent place first.
    public let places: [Place]
    /// What would have avoided the repeated ones; nil without any.
    public let remedy: Remedy?
  }

  /// Fetches and counts of one entity.
  public struct Fetches: Sendable, Codable, Hashable {
    /// The entity.
    public let entity: String
    /// How many.
    public let count: Int
    /// How many of them belong to runs of at least ten in one context.
    public let repeated: Int
    /// Where they come from, the most frequent place first.
    public let places: [Place]
  }

  /// A fetch, a save or a merge that took long.
  public struct Slow: Sendable, Codable, Hashable {
    /// The entity of a fetch; `save` or `merge` otherwise.
    public let what: String
    /// How many objects, and the condition of a fetch.
    public let detail: String
    /// The time in milliseconds.
    public let milliseconds: Double
    /// The name of the context.
    public let context: String
    /// Where the call is; nil if unknown.
    public let place: String?
  }

  /// Number and time of one kind of event.
  public struct Times: Sendable, Codable, Hashable {
    /// How many.
    public let count: Int
    /// Their time together in milliseconds.
    public let milliseconds: Double
    /// How many objects: results of fetches, inserted, updated and deleted objects of saves; 0 for merges.
    public let objects: Int
    /// Those that took longer than the option says, the slowest first.
    public let slow: [Slow]
  }

  /// An event of the timeline.
  public struct TimelineEvent: Sendable, Codable, Hashable {
    /// `fetch`, `save`, `merge`, `wake`, or `block` for a block of a context's executor.
    public let kind: String
    /// An index of ``CDEProfileReport/contexts``.
    public let context: Int
    /// Milliseconds after the beginning of the record.
    public let start: Double
    /// The time in milliseconds.
    public let duration: Double
    /// The entity of a fetch, the number of woken objects, or nothing.
    public let label: String
  }

  /// The length of the record in milliseconds.
  public let milliseconds: Double
  /// Single faults by their kinds, the most frequent first.
  public let faults: [Fault]
  /// Fetches by their entities, the most frequent first.
  public let fetchedEntities: [Fetches]
  /// All fetches and counts.
  public let fetches: Times
  /// All saves.
  public let saves: Times
  /// All merges.
  public let merges: Times
  /// How many objects' readers were woken.
  public let wakes: Int
  /// The names of the contexts, in the order in which they were used first.
  public let contexts: [String]
  /// The timeline, if it was recorded.
  public let timeline: [TimelineEvent]
  /// How many older events the timeline lacks.
  public let droppedEvents: Int

  /// The faults that belong to runs, with what would have avoided them.
  public var repeatedFaults: [Fault] { faults.filter { $0.repeated > 0 } }

  /// The report as text.
  public var description: String { ProfileText(self).text }

  /// The report as a page that needs no other file.
  public var html: String { ProfilePage(self).text }
}

extension CDEProfileReport {
  init(_ recorded: ProfileRecorder.Recorded, placesAreLookedUp: Bool) {
    let names = PlaceNames(recorded.stacks, areLookedUp: placesAreLookedUp)
    let kinds = recorded.kinds.values.map { ReportedKind($0, names) }.filter { $0.count > 0 }
      .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    faults = kinds.filter { !$0.key.isFetch }.map(\.fault)
    fetchedEntities = kinds.filter(\.key.isFetch).map(\.fetches)
    let contexts = recorded.contexts
    fetches = Times(recorded.fetches, recorded.fetchedResults, contexts, names)
    saves = Times(recorded.saves, recorded.savedObjects, contexts, names)
    merges = Times(recorded.merges, 0, contexts, names)
    wakes = recorded.wakes
    self.contexts = contexts
    milliseconds = recorded.began.duration(to: recorded.ended ?? .now).milliseconds
    timeline = recorded.timeline.inOrder.map { event in
      TimelineEvent(
        kind: event.kind.rawValue, context: event.context,
        start: recorded.began.duration(to: event.start).milliseconds,
        duration: event.duration.milliseconds, label: event.label)
    }
    droppedEvents = recorded.timeline.dropped
  }
}

/// A kind of events with the names of its places.
private struct ReportedKind {
  let key: ActivityKey
  let name: String
  let count: Int
  private let entity: String
  private let relationship: String?
  private let repeated: Int
  private let places: [CDEProfileReport.Place]
  private let remedy: CDEProfileReport.Remedy?

  init(_ kind: FaultKind, _ names: PlaceNames) {
    key = kind.key
    entity = kind.entity
    relationship = kind.relationship
    name = "\(entity).\(relationship ?? "")"
    let noted = kind.noted
    count = noted.count
    repeated = noted.repeated
    // Several ways may lead to one line.
    var counts: [String?: Int] = [:]
    for place in noted.places.values { counts[names.name(place.stack), default: 0] += place.count }
    // The next look would have told where the latest ones come from.
    if let last = noted.last, count > noted.explained {
      counts[names.name(last), default: 0] += count - noted.explained
    }
    places = counts.map { CDEProfileReport.Place(place: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.place ?? "") < ($0.count, $1.place ?? "") }
    remedy = noted.remedy.map { remedy in
      CDEProfileReport.Remedy(
        entity: remedy.entity, keyPaths: remedy.keyPaths, place: remedy.fetch.flatMap { names.name($0) })
    }
  }

  var fault: CDEProfileReport.Fault {
    CDEProfileReport.Fault(
      entity: entity, relationship: relationship, count: count, repeated: repeated, places: places,
      remedy: remedy)
  }

  var fetches: CDEProfileReport.Fetches {
    CDEProfileReport.Fetches(entity: entity, count: count, repeated: repeated, places: places)
  }
}

extension CDEProfileReport.Times {
  fileprivate init(_ times: Timed, _ objects: Int, _ contexts: [String], _ names: PlaceNames) {
    count = times.count
    milliseconds = times.total.milliseconds
    self.objects = objects
    slow = times.slowest.map { event in
      CDEProfileReport.Slow(
        what: event.label, detail: event.text, milliseconds: event.duration.milliseconds,
        context: contexts[event.context], place: names.name(event.stack))
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) * 1000 + Double(attoseconds) / 1e15
  }
}
