export { limit, runs } from '../../everywhere/runs.ts'
