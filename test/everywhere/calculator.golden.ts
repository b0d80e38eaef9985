/**
 * What every platform and store must give. It changes with what the library sends, so only on
 * purpose.
 */
export const golden = {
  /**
   * SHA-256 of all contexts of both runs as `stringifyContext` gives them, the bounded run first,
   * with a line break between.
   */
  sha256: '62b09d4211467df7312e88bf34f96d188efa60efa93134f9fe4cde52d84ecd23',
  /** The last request of the bounded run. */
  request: {
    tools: [
      {
        type: 'function',
        function: {
          name: 'add',
          description: 'Adds two numbers.',
          parameters: {
            type: 'object',
            properties: {
              a: {
                type: 'number',
              },
              b: {
                type: 'number',
              },
            },
            required: ['a', 'b'],
          },
        },
      },
    ],
    messages: [
      {
        role: 'system',
        content: 'You are a careful calculator. Use the `add` tool for every step.',
      },
      {
        role: 'user',
        content:
          '<ctx-40414758 data>\n[summary #1 of 5 earlier messages]\nUser asked for four running sums via the `add` tool. Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.\n</ctx-40414758>',
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_8a0f517a08ae12_0',
            type: 'function',
            function: {
              name: 'add',
              arguments: '{"a":100,"b":200}',
            },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: 'call_8a0f517a08ae12_0',
        content: '300',
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_8c6da9d9438fcc_0',
            type: 'function',
            function: {
              name: 'add',
              arguments: '{"a":1000,"b":2000}',
            },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: 'call_8c6da9d9438fcc_0',
        content: '3000',
      },
    ],
  },
}
