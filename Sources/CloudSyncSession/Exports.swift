// The umbrella declares nothing itself: a type that shares its module's name cannot be qualified.
@_exported public import CloudSyncCore
@_exported public import CloudSyncRecordCoding
