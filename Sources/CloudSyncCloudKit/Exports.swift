@_exported public import CloudSyncAssets
@_exported public import CloudSyncCore
