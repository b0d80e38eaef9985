/**
 * A conversation that was made up, long enough to cross a low line: a harbour master, a ship, and
 * two tools.
 */
const BERTHS = ['North 4', 'North 7', 'East 1', 'East 12', 'South 3', 'West 9']
const CARGO = ['timber', 'machine parts', 'grain', 'coffee', 'steel coils', 'glass', 'salt', 'paper']
const WIND = ['west', 'north-west', 'south', 'east']
const CALLS = 28

/** The line, in tokens, at which the sample is worth looking at. */
export const SAMPLE_BUDGET = 1_200

/** The sample as a line of a log. It is the same at every call. */
export function sampleLog(): string {
  const messages: object[] = [
    {
      role: 'system',
      content:
        'You are the harbour master’s assistant. Give berths by draught, never load a ship past her line, and say the numbers that you rely on.',
    },
  ]
  for (let call = 0; call < CALLS; call++) {
    const berth = BERTHS[(call * 5) % BERTHS.length]
    const cargo = CARGO[(call * 3) % CARGO.length]
    const tons = 120 + ((call * 137) % 640)
    messages.push({
      role: 'user',
      content: `Ship ${call + 1} asks for a berth tonight: ${tons} tons of ${cargo}, draught ${(4 + (call % 5) * 0.6).toFixed(1)} m. Where does she go, and may she take ${20 + call} tons more?`,
    })
    if (call % 2 === 0) {
      const id = `call_${call}`
      messages.push({
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id,
            type: 'function',
            function: { name: 'tide', arguments: JSON.stringify({ berth, hours: 12 }) },
          },
        ],
      })
      const tides = Array.from({ length: 12 }, (_, hour) => ({
        hour: (18 + hour) % 24,
        depth_m: Number((6.2 + 1.9 * Math.sin((hour + call) / 2)).toFixed(2)),
        wind: `${8 + ((call + hour) % 17)} kn ${WIND[(call + hour) % WIND.length]}`,
      }))
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(tides) })
    }
    messages.push({
      role: 'assistant',
      content: `Berth ${berth}. With ${tons} tons of ${cargo} she lies ${(call % 4) * 3 + 9} cm above her line; ${20 + call} tons more ${call % 3 === 0 ? 'would put the line under water, so no' : 'leave the line dry, so yes'}. High water is at ${(19 + call) % 24}:${call % 2 ? '10' : '40'}.`,
    })
  }
  return `${JSON.stringify({ id: 'harbour', format: 'openai', messages })}\n`
}
