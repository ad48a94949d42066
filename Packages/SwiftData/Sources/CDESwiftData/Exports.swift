@_exported public import Foundation
@_exported public import Observation

public import CDEModelRuntime

/// Records changes, and takes them back. Foundation has it on Apple's platforms.
public typealias UndoManager = CDEModelRuntime.UndoManager
