export { DEMO_MODEL_ID, demoModel } from '../../agent/demo-model.ts'
export { type ModelEnv, type ModelOfOptions, modelOf } from './from-env.ts'
export { openAICompatibleModel } from './openai-compatible.ts'
export { workersAIModel } from './workers-ai.ts'
