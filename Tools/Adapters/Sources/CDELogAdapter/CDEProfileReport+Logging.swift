public import CDEProfiling
public import Logging

extension CDEProfileReport {
  /// Writes the report to a log: one entry for each kind of repeated faults, each slow fetch, save and merge, and one that sums up.
  ///
  /// - Parameters:
  ///   - logger: the log.
  ///   - level: the level of the sum. What should be looked at has the level `warning`.
  public func write(to logger: Logger, level: Logger.Level = .info) {
    for fault in repeatedFaults {
      let what = fault.relationship.map { "\(fault.entity).\($0)" } ?? fault.entity
      var metadata: Logger.Metadata = [
        "fault": "\(what)", "count": "\(fault.count)", "repeated": "\(fault.repeated)",
      ]
      if let place = fault.places.first?.place { metadata["place"] = "\(place)" }
      if let remedy = fault.remedy, !remedy.keyPaths.isEmpty {
        metadata["prefetch"] = .array(remedy.keyPaths.map { .string($0) })
        if let place = remedy.place { metadata["fetch"] = "\(place)" }
      }
      logger.warning("Rows were read one by one.", metadata: metadata)
    }
    for slow in fetches.slow + saves.slow + merges.slow {
      var metadata: Logger.Metadata = [
        "what": "\(slow.what)", "detail": "\(slow.detail)", "milliseconds": "\(slow.milliseconds)",
        "context": "\(slow.context)",
      ]
      if let place = slow.place { metadata["place"] = "\(place)" }
      logger.warning("A request took long.", metadata: metadata)
    }
    logger.log(
      level: level, "Profile of contexts.",
      metadata: [
        "faults": "\(faults.reduce(0) { $0 + $1.count })", "fetches": "\(fetches.count)",
        "saves": "\(saves.count)", "merges": "\(merges.count)", "wakes": "\(wakes)",
      ])
  }
}
