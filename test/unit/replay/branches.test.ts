import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Branch, told } from '../../../src/replay/branches.ts'
import { runs } from '../support/runs.ts'

/** Trees of which each message follows one that was said before it, or begins anew. */
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

it('ends where messages follow themselves', () => {
  const tree = ['a', 'b', 'c'].map((id, place) => ({
    id,
    parent: ['c', 'a', 'b'][place],
    value: id,
    isNewest: id === 'c',
  }))
  expect(told(tree).map(({ value }) => value)).toEqual(['a', 'b', 'c'])
  expect(told(tree.map((branch) => ({ ...branch, isNewest: false })))).toEqual([])
})
