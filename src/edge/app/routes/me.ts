import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { PlimsollError } from '../../../ports/errors.ts'
import { answer } from '../../objects/answer.ts'
import { fromWire } from '../../wire.ts'
import { answers } from '../answer-schemas.ts'
import type { AppEnv } from '../app-env.ts'
import { checkType, JSON_TYPE, readJson, readText, typeOf } from '../body.ts'
import { checked, endpoint } from '../endpoint.ts'
import { keyedOf } from '../keyed.ts'
import { askUser, livingScope, onUser, userScope } from '../objects.ts'
import { schemas } from '../schemas.ts'

const MARKDOWN = 'text/markdown'

const document = z.object({ name: z.string(), text: z.string(), version: z.string() }).openapi('Document')
const listed = { name: z.string(), description: z.string(), version: z.string() }
const skillEntry = z.object(listed).openapi('SkillEntry')
const skill = z
  .object({ ...listed, text: z.string(), front_matter: z.string().optional(), markdown: z.string() })
  .openapi('Skill')
const written = z.object({ name: z.string(), version: z.string() }).openapi('Written')

/** What all sessions of a user share: profile, skills, recall; and taking over what a guest did. */
export function meRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'listDocuments',
      method: 'get',
      path: '/v1/me/profile',
      summary: 'Documents that are part of every prompt',
      answer: z.object({ documents: z.array(document) }),
    },
    ({ context, principal }) => askUser(context.get('settings'), userScope(principal), 'profile', undefined),
  )
  endpoint(
    app,
    {
      id: 'eraseMe',
      method: 'delete',
      path: '/v1/me',
      also: [202],
      summary:
        'Removes all of the caller: every session, and what they share. 202: there is more than one call removes, and the rest follows',
      answer: schemas.certificate,
    },
    async ({ context, principal, meta }) => {
      const scope = await livingScope(context.get('settings'), principal)
      const settings = context.get('settings')
      const { isDone, certificate } = await onUser(settings, scope, (object) =>
        settings.ciphertext ? object.eraseCipher(scope) : object.erase(scope, meta),
      )
      const answered = answer(certificate)
      return isDone
        ? answered
        : new Response(answered.json, { status: 202, headers: { 'Content-Type': JSON_TYPE } })
    },
  )
  endpoint(
    app,
    {
      id: 'listAudit',
      method: 'get',
      path: '/v1/me/audit',
      summary: 'What was promoted, forgotten, erased, exported or imported, the newest first; at most 512',
      query: schemas.auditQuery,
      answer: z.object({ records: z.array(schemas.auditRecord) }),
    },
    ({ context, principal, query }) => askUser(context.get('settings'), userScope(principal), 'audit', query),
  )
  endpoint(
    app,
    {
      id: 'getDocument',
      method: 'get',
      path: '/v1/me/profile/{name}',
      isVersioned: true,
      summary: 'One document',
      answer: document,
    },
    ({ context, principal, param }) =>
      askUser(context.get('settings'), userScope(principal), 'document', { name: param('name') }),
  )
  endpoint(
    app,
    {
      id: 'setDocument',
      method: 'put',
      path: '/v1/me/profile/{name}',
      isVersioned: true,
      summary: 'Writes a document of at most 32 KiB, over the version in If-Match if there is one',
      body: schemas.document,
      answer: written,
    },
    ({ context, principal, param, body: { text }, condition, meta }) =>
      askUser(
        context.get('settings'),
        userScope(principal),
        'setDocument',
        { name: param('name'), text, condition },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'deleteDocument',
      method: 'delete',
      path: '/v1/me/profile/{name}',
      isVersioned: true,
      summary: 'Removes a document',
    },
    ({ context, principal, param, condition, meta }) =>
      askUser(
        context.get('settings'),
        userScope(principal),
        'deleteDocument',
        { name: param('name'), condition },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'listSkills',
      method: 'get',
      path: '/v1/me/skills',
      summary: 'Names and descriptions of skills, by name',
      query: schemas.skillQuery,
      answer: z.object({ skills: z.array(skillEntry) }),
    },
    ({ context, principal, query }) =>
      askUser(context.get('settings'), userScope(principal), 'skills', query),
  )
  endpoint(
    app,
    {
      id: 'getSkill',
      method: 'get',
      path: '/v1/me/skills/{name}',
      isVersioned: true,
      summary: 'A skill, and its SKILL.md',
      answer: skill,
    },
    ({ context, principal, param }) =>
      askUser(context.get('settings'), userScope(principal), 'skill', { name: param('name') }),
  )
  endpoint(
    app,
    {
      id: 'setSkill',
      method: 'put',
      path: '/v1/me/skills/{name}',
      isVersioned: true,
      body: schemas.skill,
      summary: 'Writes a skill of at most 64 KiB: a SKILL.md as text/markdown, or its parts as JSON',
      media: { body: MARKDOWN },
      answer: written,
    },
    async ({ context, principal, param, condition }) => {
      const { req } = context
      checkType(req.raw, MARKDOWN, JSON_TYPE)
      const isMarkdown = typeOf(req.raw) === MARKDOWN
      const { value, bytes, raw } = await (isMarkdown ? readText(req.raw) : readJson(req.raw))
      const keyed = await keyedOf(req, raw)
      return askUser(
        context.get('settings'),
        userScope(principal),
        'setSkill',
        {
          name: param('name'),
          skill: isMarkdown ? value : fromWire(checked(schemas.skill, value, 'body')),
          condition,
        } as never,
        { bytes, ...(keyed && { keyed }) },
      )
    },
  )
  endpoint(
    app,
    {
      id: 'deleteSkill',
      method: 'delete',
      path: '/v1/me/skills/{name}',
      isVersioned: true,
      summary: 'Removes a skill',
    },
    ({ context, principal, param, condition, meta }) =>
      askUser(
        context.get('settings'),
        userScope(principal),
        'deleteSkill',
        { name: param('name'), condition },
        meta,
      ),
  )
  endpoint(
    app,
    {
      id: 'recall',
      method: 'post',
      path: '/v1/me/recall',
      isKeyed: false,
      summary: 'What a query finds among the user’s facts, and in the sessions that are named',
      body: schemas.recall,
      answer: answers.recalled,
    },
    ({ context, principal, body }) => askUser(context.get('settings'), userScope(principal), 'recall', body),
  )
  endpoint(
    app,
    {
      id: 'claimGuest',
      method: 'post',
      path: '/v1/me/claim',
      isKeyed: false,
      summary: 'Moves the sessions and facts of a guest to the caller; repeating it moves what is left',
      body: schemas.claim,
      answer: z.object({
        sessions: z.array(z.object({ from: z.string(), to: z.string() })),
        facts: z.number(),
      }),
    },
    async ({ context, principal, body: { token } }) => {
      const { guests } = context.get('settings')
      // Whose token does not hold is not the caller, who is known.
      const guest = await guests?.verify(token).catch(() => undefined)
      if (!guest || principal.isGuest || (guest.tenant ?? principal.tenant) !== principal.tenant)
        throw new PlimsollError(
          'ERR_INVALID_ARGUMENT',
          'claim: the token must be of a guest, and the caller signed in',
          {
            argument: 'token',
          },
        )
      const scope = userScope(principal)
      return onUser(context.get('settings'), scope, (object) => object.claim(scope, userScope(guest)))
    },
  )
}

/** Tokens for people who have not signed in. */
export function guestRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'createGuest',
      method: 'post',
      path: '/v1/guests',
      summary: 'A token for somebody who has not signed in',
      answer: z.object({ token: z.string(), user_id: z.string(), expires_at: z.number() }),
      status: 201,
      isOpen: true,
    },
    async ({ context }) => {
      const { guests } = context.get('settings')
      if (!guests) throw new PlimsollError('ERR_NOT_FOUND', 'guests: this edge lets no guests in')
      return answer(await guests.issue())
    },
  )
}
