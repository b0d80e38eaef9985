export { isWhole, limit, runs } from '../../everywhere/runs.ts'
