@_spi(CDE) internal import CDEExecutors
public import Foundation

/// What registers its changes with a manager not at once but in groups.
protocol UndoClient: AnyObject {
  /// Registers the changes so far, because a group is opened, closed or undone.
  func registerPendingUndo()
}

/// Foundation's undo manager, which Foundation does not have on Linux: two stacks of groups of actions.
///
/// An action that is registered undoes a change. While ``undo()`` performs actions, the actions that they
/// register are those of ``redo()``. A managed object context registers its changes once it has an undo manager:
///
/// ```swift
/// import CDEModelRuntime
///
/// func renamed(_ object: NSManagedObject, in context: NSManagedObjectContext) {
///   context.undoManager = UndoManager()
///   object.setValue("A name", forKey: "name")
///   context.undo()  // The object has its former name.
///   context.redo()  // The object has the new name again.
/// }
/// ```
///
/// The groups of an event: while ``groupsByEvent`` is true, the first action opens a group, and the end of the
/// event closes it. An event of a context is its outermost `perform` block, or one job of the main actor. Without a
/// context it is one job of the main actor. Elsewhere there are no events, and ``undo()`` closes the group.
///
/// Use a manager on one isolation: its context's, or the main actor. Interface and behaviour follow Foundation's,
/// except that a group without actions is dropped, and that there are no selectors and invocations.
nonisolated open class UndoManager: NSObject {
  var undoStack: [UndoGroup] = []
  var redoStack: [UndoGroup] = []
  /// The open groups, the outermost one first.
  var openGroups: [UndoGroup] = []
  /// Whether the outermost open group was opened for an event.
  private var hasEventGroup = false
  private var isEventEndScheduled = false
  private var disableCount = 0

  /// Makes a manager without actions.
  public override init() { super.init() }

  // MARK: Grouping

  /// Whether the actions of one event form a group; true at first.
  ///
  /// If false, code that registers actions opens groups itself. A context then opens a group for each
  /// announcement of its changes.
  open var groupsByEvent = true

  /// The number of open groups, one inside the other.
  open var groupingLevel: Int { openGroups.count }

  /// The greatest number of groups that can be undone, and of those that can be redone; 0, the value at first, for no limit.
  ///
  /// The oldest groups are dropped.
  open var levelsOfUndo = 0 {
    didSet { trim() }
  }

  /// The modes of the run loop in which Foundation ends events. Kept and not read: no run loop ends events here.
  open var runLoopModes: [RunLoop.Mode] = [.default]

  /// Opens a group. The next ``endUndoGrouping()`` closes it.
  ///
  /// While ``groupsByEvent`` is true and no group is open, this opens the event's group first.
  open func beginUndoGrouping() {
    registerPending()
    if !isUndoing, !isRedoing, openGroups.isEmpty, groupsByEvent { openEventGroup() }
    openGroup()
  }

  /// Closes the group that was opened last.
  ///
  /// - Precondition: a group is open.
  open func endUndoGrouping() {
    checkPrecondition(
      !openGroups.isEmpty,
      "endUndoGrouping() was called and no undo group is open. Call beginUndoGrouping() once for each call.")
    registerPending()
    post(.NSUndoManagerCheckpoint)
    let group = openGroups[openGroups.count - 1]
    post(
      .NSUndoManagerWillCloseUndoGroup,
      userInfo: group.isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: true] : nil)
    openGroups.removeLast()
    if openGroups.isEmpty { hasEventGroup = false }
    if !group.isEmpty {
      if let outer = openGroups.last {
        outer.add(group)
      } else {
        undoStack.append(group)
        trim()
      }
    }
    post(.NSUndoManagerDidCloseUndoGroup)
  }

  private func openGroup() {
    post(.NSUndoManagerCheckpoint)
    openGroups.append(UndoGroup())
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  private func openEventGroup() {
    openGroup()
    hasEventGroup = true
    guard !isEventEndScheduled else { return }
    let main = ContextExecutor.main()
    guard main.isCurrent else { return }
    isEventEndScheduled = true
    let carried = Carrier(WeakReference(self))
    main.enqueue {
      guard let manager = carried.value.object else { return }
      manager.isEventEndScheduled = false
      manager.endEvent()
    }
  }

  /// Closes the group of the current event. Groups that other code opened inside it keep it open.
  func endEvent() {
    if hasEventGroup, openGroups.count == 1, !isUndoing, !isRedoing { endUndoGrouping() }
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
    if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
  }

  // MARK: Registering

  /// Whether actions are registered. False after more calls of ``disableUndoRegistration()`` than of
  /// ``enableUndoRegistration()``.
  open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

  /// Ignores actions from here on. Calls nest.
  ///
  /// A context registers changes when it announces them: call its `processPendingChanges()` first.
  open func disableUndoRegistration() { disableCount += 1 }

  /// Ends the effect of one call of ``disableUndoRegistration()``.
  ///
  /// - Precondition: there was such a call.
  open func enableUndoRegistration() {
    checkPrecondition(
      disableCount > 0,
      "enableUndoRegistration() was called without a call of disableUndoRegistration() before it.")
    disableCount -= 1
  }

  /// Registers an action that undoes a change which is made now.
  ///
  /// Outside ``undo()`` and ``redo()`` this drops all actions that could be redone.
  ///
  /// - Parameters:
  ///   - target: the object that the action is for. It is not retained. The action is dropped with it.
  ///   - handler: the action, which gets the target.
  /// - Precondition: a group is open, or ``groupsByEvent`` is true.
  public func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType, handler: @escaping (TargetType) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if openGroups.isEmpty {
      checkPrecondition(
        groupsByEvent,
        "registerUndo(withTarget:handler:) was called and no undo group is open. Call beginUndoGrouping() first, or set "
          + "groupsByEvent to true.")
      openEventGroup()
    }
    if !isUndoing, !isRedoing { redoStack = [] }
    openGroups[openGroups.count - 1].add(UndoAction(target, handler))
  }

  /// Foundation's recording of messages. Swift on Linux sends none: use ``registerUndo(withTarget:handler:)``.
  @available(
    *, unavailable,
    message: "There are no invocations in Swift on Linux. Use registerUndo(withTarget:handler:)."
  )
  open func prepare(withInvocationTarget target: Any) -> Any { target }

  /// Drops all actions, and enables registration.
  open func removeAllActions() {
    undoStack = []
    redoStack = []
    for group in openGroups { group.removeAll() }
    disableCount = 0
  }

  /// Drops the actions for one target, and the groups that are then empty.
  ///
  /// - Parameter target: the object that the actions were registered with.
  open func removeAllActions(withTarget target: Any) {
    let target = target as AnyObject
    for group in undoStack + redoStack + openGroups { group.removeAll(for: target) }
    undoStack.removeAll(where: \.isEmpty)
    redoStack.removeAll(where: \.isEmpty)
  }

  // MARK: Undoing

  /// Whether ``undo()`` has actions to perform.
  open var canUndo: Bool {
    registerPending()
    return !undoStack.isEmpty || openGroups.contains { !$0.isEmpty }
  }

  /// Whether ``redo()`` has actions to perform.
  open var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !redoStack.isEmpty
  }

  /// The number of closed groups that can be undone.
  open var undoCount: Int { undoStack.count }

  /// The number of groups that can be redone.
  open var redoCount: Int { redoStack.count }

  /// Whether ``undo()`` is performing actions.
  public internal(set) final var isUndoing = false

  /// Whether ``redo()`` is performing actions.
  public internal(set) final var isRedoing = false

  /// Closes the open group, and performs the actions of the last group in reverse order. Does nothing if there is none.
  ///
  /// - Precondition: at most one group is open.
  open func undo() {
    registerPending()
    if groupingLevel == 1 { endUndoGrouping() }
    checkPrecondition(
      openGroups.isEmpty,
      "undo() was called while \(groupingLevel) undo groups are open. Close them with endUndoGrouping() first."
    )
    undoNestedGroup()
  }

  /// Performs the actions of the last group, also if that is part of an open group.
  open func undoNestedGroup() {
    post(.NSUndoManagerCheckpoint)
    guard let group = openGroups.last?.takeLastGroup() ?? (openGroups.isEmpty ? undoStack.popLast() : nil)
    else { return }
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    if let inverse = perform(group) { redoStack.append(inverse) }
    isUndoing = false
    trim()
    post(.NSUndoManagerDidUndoChange)
  }

  /// Performs the actions that undo the last undo. Does nothing if there is none.
  ///
  /// - Precondition: no group is open, apart from the event's.
  open func redo() {
    registerPending()
    if groupingLevel == 1 { endUndoGrouping() }
    checkPrecondition(
      openGroups.isEmpty,
      "redo() was called while \(groupingLevel) undo groups are open. Close them with endUndoGrouping() first."
    )
    post(.NSUndoManagerCheckpoint)
    guard let group = redoStack.popLast() else { return }
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    if let inverse = perform(group) { undoStack.append(inverse) }
    isRedoing = false
    trim()
    post(.NSUndoManagerDidRedoChange)
  }

  /// Performs the actions of a group.
  ///
  /// - Returns: the actions that were registered meanwhile; nil if there are none.
  private func perform(_ group: UndoGroup) -> UndoGroup? {
    let outer = openGroups
    let inverse = UndoGroup(named: group.name, isDiscardable: group.isDiscardable)
    openGroups = [inverse]
    group.perform()
    // An action that left groups open has lost them: their actions belong to this one.
    while openGroups.count > 1 { endUndoGrouping() }
    openGroups = outer
    return inverse.isEmpty ? nil : inverse
  }

  // MARK: Names of actions

  /// Names the open group, or the last one, for a menu.
  ///
  /// - Parameter actionName: the name, "Paste" for instance.
  open func setActionName(_ actionName: String) { (openGroups.first ?? undoStack.last)?.name = actionName }

  /// The name of the actions that ``undo()`` performs; empty if they have none.
  open var undoActionName: String { (openGroups.first { !$0.isEmpty } ?? undoStack.last)?.name ?? "" }

  /// The name of the actions that ``redo()`` performs; empty if they have none.
  open var redoActionName: String { redoStack.last?.name ?? "" }

  /// The title of the menu's undo command: "Undo Paste", for instance.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

  /// The title of the menu's redo command.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// The title of an undo command, in English.
  ///
  /// - Parameter actionName: the name of the actions.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// The title of a redo command, in English.
  ///
  /// - Parameter actionName: the name of the actions.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  // MARK: Discardable actions

  /// Marks the open group as one that an application need not save a document for.
  ///
  /// - Parameter discardable: whether it is one.
  open func setActionIsDiscardable(_ discardable: Bool) { openGroups.last?.isDiscardable = discardable }

  /// Whether the actions that ``undo()`` performs are discardable.
  open var undoActionIsDiscardable: Bool { undoStack.last?.isDiscardable ?? false }

  /// Whether the actions that ``redo()`` performs are discardable.
  open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

  // MARK: Clients

  private var clients: [ClientReference] = []

  func addClient(_ client: any UndoClient) { clients.append(ClientReference(client: client)) }

  func removeClient(_ client: any UndoClient) {
    clients.removeAll { $0.client == nil || $0.client === client }
  }

  private func registerPending() {
    if isUndoing || isRedoing { return }
    for reference in clients { reference.client?.registerPendingUndo() }
  }

  private struct ClientReference {
    weak var client: (any UndoClient)?
  }

  private func post(_ name: Notification.Name, userInfo: [AnyHashable: Any]? = nil) {
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
  }
}

extension Notification.Name {
  /// Posted before a group is opened or closed, and when an undo or redo begins.
  public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
  /// Posted before ``UndoManager/undo()`` performs actions.
  public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
  /// Posted before ``UndoManager/redo()`` performs actions.
  public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
  /// Posted after ``UndoManager/undo()`` performed actions.
  public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Posted after ``UndoManager/redo()`` performed actions.
  public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
  /// Posted after a group was opened.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name(
    "NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted before a group is closed. The user info of a discardable group has `NSUndoManagerGroupIsDiscardableKey`.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name(
    "NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted after a group was closed.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name(
    "NSUndoManagerDidCloseUndoGroupNotification")
}

/// The key of true in the user info of `NSUndoManagerWillCloseUndoGroup` for a discardable group.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

/// Foundation's priority of the end of an event in a run loop. No run loop ends events here.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000
