@_spi(CDE) internal import CDEProfiling
public import CDEStore

extension NSManagedObject {
  /// The registrar that records a read; nil unless a reader tracks and the context has an observer.
  @inlinable
  public final func _cdTrackingRegistrar() -> CDEObservationRegistrarBox? {
    guard let home = _home, home.with({ $0.isObserved }) else { return nil }
    return _trackingRegistrar()
  }

  @usableFromInline
  final func _trackingRegistrar() -> CDEObservationRegistrarBox? {
    // An existing registrar checks for tracking itself, at less cost than the probe.
    if let known = _registrar { return known }
    guard let made = _home?.with({ $0.probe.registrarIfTracking() }) else { return nil }
    return adopt(made)
  }

  /// The registrar that records a read, whether or not the context has an observer; nil unless a reader tracks.
  public final func _cdOwnTrackingRegistrar() -> CDEObservationRegistrarBox? {
    if _flags.contains(.checked), isOutside { return nil }
    if let known = _registrar { return known }
    let made =
      if let home = _home { home.with { $0.probe.registrarIfTracking() } } else {
        TrackingProbe.registrarOfDetachedIfTracking()
      }
    return made.map(adopt)
  }

  // Separate from the check, which fails in nearly every read.
  @inline(never)
  private final func adopt(_ made: CDEObservationRegistrarBox) -> CDEObservationRegistrarBox {
    _registrar = made
    _registry?.context?.willTrack(self)
    return made
  }

  /// Whether a reader ever tracked the object.
  @inlinable public final var _cdIsTracked: Bool {
    @inline(__always) get { _registrar != nil }
  }

  /// The registrar, if a reader ever tracked the object.
  public final func _cdExistingRegistrar() -> CDEObservationRegistrarBox? {
    if _flags.contains(.checked), isOutside { return nil }
    return _registrar
  }

  /// Whether the caller is outside of the isolation, where no reader is recorded or woken.
  @inline(never)
  private final var isOutside: Bool { _registry?.context?.isUsedOutside == true }

  /// Whether a reader ever tracked the object. Needs no reference counting.
  @_spi(CDE) public final var isTracked: Bool { _registrar != nil }

  /// Wakes the readers that read certain properties under tracking; nil means any property.
  ///
  /// Transient properties among the slots wake no reader, because they are not saved.
  @_spi(CDE) public final func wakeReaders(of slots: PropertySet?) {
    guard _registrar != nil, let waker = _binding.waker else { return }
    ProfileRecorder.active?.noteWake(of: _binding.name)
    if let slots {
      let fields = waker.fields(slots)
      if !fields.isEmpty { waker.wake(self, fields) }
    } else {
      waker.wake(self, nil)
    }
  }

  /// The names of the generated properties of certain slots, for messages.
  @_spi(CDE) public final func observedPaths(of slots: PropertySet) -> [String] {
    guard let waker = _binding.waker,
      let type = type(of: self) as? any CDEObservationInvalidationDispatching.Type
    else { return [] }
    return type.__cdObservationSwiftPaths(for: waker.fields(slots))
  }
}
