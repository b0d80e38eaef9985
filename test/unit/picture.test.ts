import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkPicture, isPicture, isPictureType } from '../../src/ports/picture.ts'
import { HEADS } from '../everywhere/pictures.ts'
import { runs } from '../everywhere/runs.ts'

const types = Object.keys(HEADS)
const withHead = (head: string, rest: Uint8Array): Uint8Array =>
  Uint8Array.from([...[...head].map((character) => character.charCodeAt(0)), ...rest])

it('is what its first bytes say, whatever follows them and however its type is written', () => {
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.constantFrom(...types), fc.uint8Array(), (said, is, rest) => {
      const bytes = withHead(HEADS[is] ?? '', rest)
      expect(isPicture(said, bytes)).toBe(said === is)
      expect(isPicture(`${said.toUpperCase()}; q=1`, bytes)).toBe(said === is)
      const check = () => checkPicture('attach', 'bytes', said, bytes)
      if (said === is) check()
      else expect(check).toThrow(`attach: bytes must be of the type that they are said to be, ${said}`)
    }),
    runs(100),
  )
})

it('is none without the whole of its beginning; of other types nobody says how they begin', () => {
  for (const [type, head] of Object.entries(HEADS))
    for (let length = 0; length < head.length; length++)
      expect(isPicture(type, withHead(head.slice(0, length), new Uint8Array()))).toBe(false)
  for (const type of ['image/svg+xml', 'image/heic', 'application/pdf', 'image/pngs', 'constructor/x']) {
    expect(isPictureType(type)).toBe(false)
    checkPicture('attach', 'bytes', type, new Uint8Array())
  }
})
