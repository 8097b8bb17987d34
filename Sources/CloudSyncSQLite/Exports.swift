// Its public types, such as SchemaViolation, are a part of this module's interface.
@_exported public import CloudSyncSQLiteSchema
