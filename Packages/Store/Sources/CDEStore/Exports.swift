// Errors of a store have the form that all layers share.
@_exported public import protocol CDEExecutors.CDEError
// Conditions name it.
@_exported public import struct CDEOperators.TextOptions
