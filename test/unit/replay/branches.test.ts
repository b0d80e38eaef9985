import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Branch, told } from '../../../src/replay/branches.ts'
import { runs } from '../support/runs.ts'

/** Trees of which each message follows one that was said before it, or begins again. */
const trees = fc
  .array(fc.nat(), { minLength: 1, maxLength: 30 })
  .chain((picks) => fc.tuple(fc.constant(picks), fc.nat({ max: picks.length - 1 })))
  .map(([picks, newest]): readonly Branch[] =>
    picks.map((pick, place) => {
      const parent = pick % (place + 1)
      return {
        id: `m${place}`,
        parent: parent === place ? undefined : `m${parent}`,
        value: place,
        isNewest: place === newest,
      }
    }),
  )

/** From the first message down to one. */
function versionOf(tree: readonly Branch[], place: number): readonly number[] {
  const parent = tree[place]?.parent
  return parent === undefined ? [place] : [...versionOf(tree, Number(parent.slice(1))), place]
}

/** What shows, where each message hides what was told from its own depth on. */
function standing(order: ReturnType<typeof told>): readonly unknown[] {
  return order.reduce<readonly unknown[]>((shown, { value, depth }) => [...shown.slice(0, depth), value], [])
}

it('tells each message of a tree once, behind those that it follows, and last what shows', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const order = told(tree)
      expect(order.map(({ value }) => Number(value)).sort((one, other) => one - other)).toEqual(
        tree.map((_, place) => place),
      )
      for (const [index, { value }] of order.entries())
        expect(standing(order.slice(0, index + 1))).toEqual(versionOf(tree, Number(value)))
      const newest = tree.findIndex(({ isNewest }) => isNewest)
      expect(standing(order).slice(0, versionOf(tree, newest).length)).toEqual(versionOf(tree, newest))
    }),
    runs(200),
  )
})

it('tells a conversation that grew at its end the same up to there', () => {
  fc.assert(
    fc.property(trees, (tree) => {
      const before = told(tree)
      const last = before.at(-1)?.value
      const grown = tree.map((branch) => ({ ...branch, isNewest: false }))
      const more = { id: 'more', parent: `m${last}`, value: 'more', isNewest: true }
      expect(told([...grown, more])).toEqual([
        ...before,
        { value: 'more', depth: (before.at(-1)?.depth ?? 0) + 1 },
      ])
    }),
    runs(200),
  )
})

/** Any parents: messages may follow themselves, none that is there, or those that come later. */
const tangles = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 12 }).chain((parents) =>
  fc.nat({ max: parents.length }).map((newest): readonly Branch[] =>
    parents.map((parent, place) => ({
      id: `m${place}`,
      parent: `m${parent}`,
      value: place,
      isNewest: place === newest,
    })),
  ),
)

it('tells each message once where messages follow themselves, and last what shows', () => {
  fc.assert(
    fc.property(tangles, (tangle) => {
      const order = told(tangle)
      expect(order.map(({ value }) => Number(value)).sort((one, other) => one - other)).toEqual(
        tangle.map((_, place) => place),
      )
      const newest = tangle.find(({ isNewest }) => isNewest)
      if (newest) expect(standing(order)).toContain(newest.value)
    }),
    runs(300),
  )
})

it('begins with the first of the messages that follow themselves', () => {
  const ring = ['a', 'b', 'c'].map((id, place) => ({
    id,
    parent: ['c', 'a', 'b'][place],
    value: id,
    isNewest: id === 'c',
  }))
  expect(told(ring).map(({ value }) => value)).toEqual(['a', 'b', 'c'])
  const other = { id: 'd', parent: undefined, value: 'd', isNewest: true }
  const unshown = [...ring.map((branch) => ({ ...branch, isNewest: false })), other]
  expect(told(unshown).map(({ value, depth }) => [value, depth])).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
    ['d', 0],
  ])
})

it('looks at each message a few times, however long the conversation is', () => {
  let reads = 0
  const long = Array.from({ length: 500 }, (_, place) => ({
    ...{ id: `m${place}`, value: place, isNewest: place === 499 },
    get parent() {
      reads++
      return `m${place - 1}`
    },
  }))
  expect(told(long).length).toBe(500)
  expect(reads).toBeLessThan(5 * 500)
})
