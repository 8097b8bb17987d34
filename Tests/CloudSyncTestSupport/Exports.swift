// Tests run their sessions in virtual time, so that they need one import for both.
@_exported public import CloudSyncVirtualTime
