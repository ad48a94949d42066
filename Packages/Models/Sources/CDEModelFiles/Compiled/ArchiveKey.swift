/// The fields of archived objects that the reader uses.
///
/// Numbers, because an archive of a model contains some hundred thousand fields, and comparing their names
/// would take most of the time of reading it.
enum ArchiveKey: UInt8 {
  case archiveClass, archiveClassName, archiveClasses, archiveObjects, archiveTop, arguments
  case ascending, attributeType, attributeValueClassName, base, batchSize
  case classNameForEntity, collection, compositeElements, compoundIndexes, compoundPredicateType
  case configurations, constantValue, data, defaultValue, deleteRule
  case derivationExpression, destinationEntity, destinationEntityName, entities, entity
  case entityName, exponent, expression, falseExpression, fetchIndexDescriptions
  case fetchIndexElementType, fetchLimit, fetchOffset, fetchRequest, fetchRequestEntityName
  case fetchRequestFlags, fetchRequestTemplates, flags, flagsKey, hasFetchRequestFlags
  case indexElements, indexName, inverseRelationship, inverseRelationshipName, isAbstract
  case isIndexed, isOptional, isOrdered, isTransient, key
  case keyPath, keys, leftExpression, mantissa, mantissaByteOrder
  case maxCount, minCount, modifier, negative, objects
  case operand, operatorType, options, partialIndexPredicate, plainKeys
  case plainMapping, plainValues, predicate, predicateOperator, properties
  case propertyName, relative, renamingIdentifier, resultType, rightExpression
  case root, searchMapping, selector, selectorName, sortDescriptors
  case string, subpredicates, superentity, time, trueExpression
  case underlyingProperty, uniqueTuples, userInfo, uuidbytes, validationPredicates
  case validationWarnings, valueTransformerName, values, variable, versionHashModifier
  case versionIdentifiers
  // Those of mapping models.
  case attributeMappings, destinationEntityVersionHash, destinationPropertyName, entityMappings
  case entityMigrationPolicyClassName, mappedDestinationName, mappingName, mappingType
  case relationshipMappings, sourceEntityName, sourceEntityVersionHash, sourceExpression, valueExpression

  /// The keys by the names that archives have for them.
  static let named: [String: ArchiveKey] = [
    "$class": .archiveClass,
    "$classname": .archiveClassName,
    "$classes": .archiveClasses,
    "$objects": .archiveObjects,
    "$top": .archiveTop,
    "NSArguments": .arguments,
    "NSAscending": .ascending,
    "NSAttributeType": .attributeType,
    "NSAttributeValueClassName": .attributeValueClassName,
    "NS.base": .base,
    "NSBatchSize": .batchSize,
    "NSClassNameForEntity": .classNameForEntity,
    "NSCollection": .collection,
    "NSCompositeElements": .compositeElements,
    "NSCompoundIndexes": .compoundIndexes,
    "NSCompoundPredicateType": .compoundPredicateType,
    "NSConfigurations": .configurations,
    "NSConstantValue": .constantValue,
    "NS.data": .data,
    "NSDefaultValue": .defaultValue,
    "NSDeleteRule": .deleteRule,
    "NSDerivationExpression": .derivationExpression,
    "NSDestinationEntity": .destinationEntity,
    "_NSDestinationEntityName": .destinationEntityName,
    "NSEntities": .entities,
    "NSEntity": .entity,
    "NSEntityName": .entityName,
    "NS.exponent": .exponent,
    "NSExpression": .expression,
    "NSFalseExpression": .falseExpression,
    "NSFetchIndexDescriptions": .fetchIndexDescriptions,
    "NSFetchIndexElementType": .fetchIndexElementType,
    "NSFetchLimit": .fetchLimit,
    "NSFetchOffset": .fetchOffset,
    "NSFetchRequest": .fetchRequest,
    "_NSFetchRequestEntityName": .fetchRequestEntityName,
    "NSFetchRequestFlags": .fetchRequestFlags,
    "NSFetchRequestTemplates": .fetchRequestTemplates,
    "NSFlags": .flags,
    "NSFlagsKey": .flagsKey,
    "NSHasFetchRequestFlags": .hasFetchRequestFlags,
    "NSIndexElements": .indexElements,
    "NSIndexName": .indexName,
    "NSInverseRelationship": .inverseRelationship,
    "_NSInverseRelationshipName": .inverseRelationshipName,
    "NSIsAbstract": .isAbstract,
    "NSIsIndexed": .isIndexed,
    "NSIsOptional": .isOptional,
    "NSIsOrdered": .isOrdered,
    "NSIsTransient": .isTransient,
    "NSKey": .key,
    "NSKeyPath": .keyPath,
    "NS.keys": .keys,
    "NSLeftExpression": .leftExpression,
    "NS.mantissa": .mantissa,
    "NS.mantissa.bo": .mantissaByteOrder,
    "NSMaxCount": .maxCount,
    "NSMinCount": .minCount,
    "NSModifier": .modifier,
    "NS.negative": .negative,
    "NS.objects": .objects,
    "NSOperand": .operand,
    "NSOperatorType": .operatorType,
    "NSOptions": .options,
    "NSPartialIndexPredicate": .partialIndexPredicate,
    "keys": .plainKeys,
    "searchMapping": .plainMapping,
    "values": .plainValues,
    "NSPredicate": .predicate,
    "NSPredicateOperator": .predicateOperator,
    "NSProperties": .properties,
    "NSPropertyName": .propertyName,
    "NS.relative": .relative,
    "NSRenamingIdentifier": .renamingIdentifier,
    "NSResultType": .resultType,
    "NSRightExpression": .rightExpression,
    "root": .root,
    "NS.searchMapping": .searchMapping,
    "NSSelector": .selector,
    "NSSelectorName": .selectorName,
    "NSSortDescriptors": .sortDescriptors,
    "NS.string": .string,
    "NSSubpredicates": .subpredicates,
    "NSSuperentity": .superentity,
    "NS.time": .time,
    "NSTrueExpression": .trueExpression,
    "NSUnderlyingProperty": .underlyingProperty,
    "NSUniqueTuples": .uniqueTuples,
    "NSUserInfo": .userInfo,
    "NS.uuidbytes": .uuidbytes,
    "NSValidationPredicates": .validationPredicates,
    "NSValidationWarnings": .validationWarnings,
    "NSValueTransformerName": .valueTransformerName,
    "NS.values": .values,
    "NSVariable": .variable,
    "NSVersionHashModifier": .versionHashModifier,
    "NSVersionIdentifiers": .versionIdentifiers,
    "NSAttributeMappings": .attributeMappings,
    "NSDestinationEntityName": .mappedDestinationName,
    "NSDestinationEntityVersionHash": .destinationEntityVersionHash,
    "NSDestinationPropertyName": .destinationPropertyName,
    "NSEntityMappings": .entityMappings,
    "NSEntityMigrationPolicyClassName": .entityMigrationPolicyClassName,
    "NSMappingName": .mappingName,
    "NSMappingType": .mappingType,
    "NSRelationshipMappings": .relationshipMappings,
    "NSSourceEntityName": .sourceEntityName,
    "NSSourceEntityVersionHash": .sourceEntityVersionHash,
    "NSSourceExpression": .sourceExpression,
    "NSValueExpression": .valueExpression,
  ]
}
