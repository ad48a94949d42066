#if PostgreSQL
  @_spi(CDE) internal import CDESQL
  internal import CDEStore

  /// What others have added to a store's tables.
  enum ForeignParts {
    /// Refuses to write tables anew that would lose a trigger or a policy.
    ///
    /// - Throws: `.readOnly`, which names the first one.
    static func refuse(_ tables: [String], on connection: Connection) throws(StoreError) {
      var parameters = Parameters()
      parameters.append(texts: tables)
      let rows = try connection.run(
        """
        SELECT c.relname::text, x.kind || ' ' || x.name FROM pg_class c JOIN ( \
        SELECT tgrelid AS relid, 'trigger' AS kind, tgname AS name FROM pg_trigger WHERE NOT tgisinternal \
        UNION ALL SELECT polrelid, 'policy', polname FROM pg_policy \
        UNION ALL SELECT ev_class, 'rule', rulename FROM pg_rewrite) AS x ON x.relid = c.oid \
        WHERE c.relnamespace = \(Catalogue.schema) AND c.relkind = 'r' AND c.relname = ANY($1) ORDER BY 1, 2 LIMIT 1
        """, parameters, while: "Looking for triggers")
      guard rows.count > 0, let table = rows.text(0, 0), let part = rows.text(0, 1) else { return }
      throw StoreError(
        .readOnly,
        "The store can't be migrated: the table \(table) has a \(part) that the store did not make, and that would be lost. Drop "
          + "it, and make it again afterwards.")
    }
  }

  /// Who owns the tables of a store, and who else may use them.
  ///
  /// A new table belongs to the role that makes it. An application's other roles need their rights on it, too.
  struct TableRights {
    private struct Grant {
      var privilege: String
      /// A role in quotes, or `PUBLIC`.
      var grantee: String
      var isGrantable: Bool
    }

    private struct Table {
      var owner: String
      var grants: [Grant]
    }

    private var tables: [String: Table] = [:]
    private var role = ""

    /// Reads the rights on all tables of the store.
    init(reading connection: Connection) throws(StoreError) {
      let rows = try connection.run(
        """
        SELECT c.relname::text, pg_get_userbyid(c.relowner)::text, current_user::text, a.privilege_type::text, \
        CASE a.grantee WHEN 0 THEN NULL ELSE pg_get_userbyid(a.grantee)::text END, a.is_grantable \
        FROM pg_class c LEFT JOIN LATERAL aclexplode(c.relacl) AS a ON a.grantee <> c.relowner \
        WHERE c.relnamespace = \(Catalogue.schema) AND c.relkind = 'r'
        """, while: "Reading the rights on the tables")
      for row in 0..<rows.count {
        let name = rows.text(row, 0) ?? ""
        role = rows.text(row, 2) ?? ""
        var table = tables[name] ?? Table(owner: rows.text(row, 1) ?? role, grants: [])
        if let privilege = rows.text(row, 3) {
          table.grants.append(
            Grant(
              privilege: privilege, grantee: rows.text(row, 4).map(quoted) ?? "PUBLIC",
              isGrantable: rows.boolean(row, 5)))
        }
        tables[name] = table
      }
    }

    /// The statements that give a new table the owner and the rights of the first old table that exists.
    ///
    /// - Parameter former: names of old tables.
    func statements(for table: String, like former: [String]) -> [String] {
      guard let rights = former.lazy.compactMap({ tables[$0] }).first else { return [] }
      let name = quoted(table)
      let grants = rights.grants.map { grant in
        "GRANT \(grant.privilege) ON TABLE \(name) TO \(grant.grantee)\(grant.isGrantable ? " WITH GRANT OPTION" : "")"
      }
      return grants + (rights.owner == role ? [] : ["ALTER TABLE \(name) OWNER TO \(quoted(rights.owner))"])
    }
  }
#endif
