@_exported public import Foundation
@_exported public import Observation

// What Foundation has on Apple's platforms alone.
#if !canImport(ObjectiveC)
  public import CDEManagedModel
  public import CDEModelRuntime

  /// Records changes, and takes them back.
  public typealias UndoManager = CDEModelRuntime.UndoManager

  /// Turns values into data and back, for `@Attribute(.transformable(by:))`.
  public typealias ValueTransformer = CDEManagedModel.ValueTransformer

  /// Archives objects of known classes, for `@Attribute(.transformable(by:))`.
  public typealias NSSecureUnarchiveFromDataTransformer = CDEManagedModel.NSSecureUnarchiveFromDataTransformer

  /// The name of a registered transformer.
  public typealias NSValueTransformerName = CDEManagedModel.NSValueTransformerName
#endif
