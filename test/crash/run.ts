/**
 * `node test/crash/run.ts file.jsonl... [--kills 20] [--seed 1] [--budget 16000] [--compact]`:
 * plays each conversation of recordings as an agent that is killed, and says where that shows.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadO200k } from '../../src/counters/o200k.ts'
import { readConversation } from '../../src/replay/transcript.ts'
import { mapStore } from '../../src/stores/map.ts'
import { crash } from './crash.ts'

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    budget: { type: 'string', default: '16000' },
    compact: { type: 'boolean', default: false },
  },
})
if (files.length === 0) throw new Error('Name at least one file of conversations')
const settings = {
  kills: Number(values.kills),
  seed: Number(values.seed),
  budget: Number(values.budget),
  compact: values.compact,
  counter: await loadO200k(),
  stores: mapStore,
}

const sum = { conversations: 0, kills: 0, differ: 0 }
for (const file of files) {
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const conversation = readConversation(line, index + 1)
    const { kills, resumed, settled, refused, differences } = await crash(conversation, settings)
    sum.conversations++
    sum.kills += kills
    if (differences.length > 0) sum.differ++
    const fate = differences.length === 0 ? 'same' : 'differs'
    console.log(
      `${conversation.id}: ${kills} kills, ${resumed} runs resumed, ${settled} calls settled, ${refused} refused: ${fate}`,
    )
    for (const difference of differences) console.log(`  ${difference}`)
  }
}
console.log(
  `${sum.conversations} conversations, ${sum.kills} kills by seed ${settings.seed}, ${sum.differ} differ`,
)
process.exitCode = sum.differ === 0 ? 0 : 1
