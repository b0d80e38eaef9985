export type { EdgeBindings } from './objects/bindings.ts'
export { DeploymentObject } from './objects/deployment-object.ts'
export { type EncryptionSettings, type EncryptionVariables, encryptionOf } from './objects/encryption.ts'
export type { ObjectLine } from './objects/failures.ts'
export { inJurisdiction } from './objects/jurisdiction.ts'
export { objectName } from './objects/object-name.ts'
export type { RunLine } from './objects/run-line.ts'
export { SessionObject } from './objects/session-object.ts'
export type {
  DeploymentSettings,
  LeaseSettings,
  ModelParts,
  SessionBudgets,
  SessionSettings,
  TenantBudgets,
  UserBudgets,
  UserSettings,
} from './objects/settings.ts'
export { UserObject } from './objects/user-object.ts'
