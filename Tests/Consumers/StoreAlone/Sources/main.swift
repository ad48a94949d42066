import CDESQLiteStore
import CDEStore

let schema = StoreSchema(entities: [
  StoreEntity(
    name: "Person",
    attributes: [
      StoreAttribute(name: "name", type: .string), StoreAttribute(name: "age", type: .integer16),
    ])
])
let store = try SQLiteStore(
  schema: schema, configuration: SQLiteStore.Configuration(location: .inMemory(name: "People")))
guard let person = store.schema.entity(named: "Person"),
  let age = person.layout.slot(named: "age"),
  let nameCell = person.layout.cells.firstIndex(where: { $0.name == "name" }),
  let ageCell = person.layout.cells.firstIndex(where: { $0.name == "age" })
else { fatalError("The schema lost its entity.") }

var rows = RowBatchBuilder(layout: person.layout)
for (index, (name, years)) in [("Ada", 36), ("Grace", 85), ("Alan", 41)].enumerated() {
  // Keys below zero are the caller's own until the commit.
  rows.beginRow(key: Int64(-1 - index), version: 1)
  rows.setString(nameCell, name)
  rows.setInteger(ageCell, Int64(years))
}
var transaction = StoreTransaction()
transaction.inserted = [rows.finish()]
_ = try store.commit(transaction)

let path = StoreExpression.path(StorePath(end: .property(slot: age, leaf: 0)))
let found = try store.fetch(
  StoreQuery(
    entity: person.index, filter: .comparison(path, .greater, .value(.integer(40)), []),
    sort: [StoreSort(path)]),
  isKnown: nil)
let names = found.batches.flatMap { batch in (0..<batch.count).compactMap { batch.string($0, nameCell) } }
precondition(names == ["Alan", "Grace"], "fetched \(names)")
try store.close()
print("committed and fetched: \(names)")
