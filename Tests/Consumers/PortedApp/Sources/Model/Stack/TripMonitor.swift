//
//  TripMonitor.swift
//  Trips
//

import CoreData
import Foundation

private var monitorContext = 0

/// Follows one trip, as a screen for it does.
public class TripMonitor: NSObject {

  public let trip: Trip
  public private(set) var titles: [String] = []
  public private(set) var ratings: [String] = []
  public private(set) var ownerNames: [String?] = []

  private var observations = [NSKeyValueObservation]()
  private var isObserving = false

  public init(trip: Trip) {
    self.trip = trip
    super.init()
    observations.append(
      trip.observe(\.name, options: [.initial, .new]) { [weak self] _, change in
        guard let name = change.newValue else { return }
        self?.titles.append(name)
      })
    observations.append(
      trip.observe(\.owner, options: [.new, .old]) { [weak self] trip, change in
        self?.ownerNames.append(trip.owner?.lastName)
      })
    trip.addObserver(
      self, forKeyPath: #keyPath(Trip.rating), options: [.new, .old], context: &monitorContext)
    isObserving = true
  }

  deinit {
    stop()
  }

  public func stop() {
    observations.forEach { $0.invalidate() }
    observations.removeAll()
    if isObserving {
      trip.removeObserver(self, forKeyPath: #keyPath(Trip.rating), context: &monitorContext)
      isObserving = false
    }
  }

  override public func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &monitorContext, keyPath == #keyPath(Trip.rating) else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    let old = change?[.oldKey] as? NSNumber
    let new = change?[.newKey] as? NSNumber
    ratings.append("\(old?.stringValue ?? "none") to \(new?.stringValue ?? "none")")
  }

}

/// A monitor that counts what it was told.
public final class CountingMonitor: TripMonitor {

  public private(set) var count = 0

  public override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    count += 1
    super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
  }

}
