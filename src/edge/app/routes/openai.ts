import type { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '../app-env.ts'
export function openaiRoutes(_app: OpenAPIHono<AppEnv>): void {}
