import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { PlimsollError } from '../../../ports/errors.ts'
import { answer } from '../../objects/answer.ts'
import { fromWire } from '../../wire.ts'
import type { AppEnv } from '../app-env.ts'
import { readJson, readText } from '../body.ts'
import { checked, endpoint } from '../endpoint.ts'
import { askUser, livingScope, onUser, userScope } from '../objects.ts'
import { schemas } from '../schemas.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

const document = z.object({ name: z.string(), text: z.string(), version: z.string() }).openapi('Document')
const skill = z
  .looseObject({ name: z.string(), description: z.string(), version: z.string() })
  .openapi('Skill')
const written = z.object({ name: z.string(), version: z.string() }).openapi('Written')

/** What all sessions of a user share: profile, skills, recall; and taking over what a guest did. */
export function meRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      method: 'get',
      path: '/v1/me/profile',
      summary: 'Documents that are part of every prompt',
      answer: z.object({ documents: z.array(document) }),
    },
    ({ context, principal }) => askUser(context.var.settings, userScope(principal), 'profile', undefined),
  )
  endpoint(
    app,
    {
      method: 'delete',
      path: '/v1/me',
      summary:
        'Removes all of the caller: every session, and what they share. 202: there is more than one call removes, and the rest follows',
      answer: schemas.certificate,
    },
    async ({ context, principal }) => {
      const scope = await livingScope(context.var.settings, principal)
      const { isDone, certificate } = await onUser(context.var.settings, scope, (object) =>
        object.erase(scope),
      )
      const answered = answer(certificate)
      return isDone ? answered : new Response(answered.json, { status: 202, headers: JSON_TYPE })
    },
  )
  endpoint(
    app,
    {
      method: 'get',
      path: '/v1/me/audit',
      summary: 'What was promoted, forgotten, erased, exported or imported, the newest first; at most 512',
      query: schemas.auditQuery,
      answer: z.object({ records: z.array(schemas.auditRecord) }),
    },
    ({ context, principal, query }) => askUser(context.var.settings, userScope(principal), 'audit', query),
  )
  endpoint(
    app,
    { method: 'get', path: '/v1/me/profile/{name}', summary: 'One document', answer: document },
    ({ context, principal, param }) =>
      askUser(context.var.settings, userScope(principal), 'document', { name: param('name') }),
  )
  endpoint(
    app,
    {
      method: 'put',
      path: '/v1/me/profile/{name}',
      summary: 'Writes a document of at most 32 KiB, over the version in If-Match if there is one',
      body: schemas.document,
      answer: written,
    },
    ({ context, principal, param, body: { text }, ifVersion, opId, bytes }) =>
      askUser(
        context.var.settings,
        userScope(principal),
        'setDocument',
        { name: param('name'), text, ...(ifVersion !== undefined && { ifVersion }) },
        { ...(opId !== undefined && { opId }), bytes },
      ),
  )
  endpoint(
    app,
    { method: 'delete', path: '/v1/me/profile/{name}', summary: 'Removes a document' },
    ({ context, principal, param, ifVersion, opId }) =>
      askUser(
        context.var.settings,
        userScope(principal),
        'deleteDocument',
        { name: param('name'), ...(ifVersion !== undefined && { ifVersion }) },
        opId === undefined ? {} : { opId },
      ),
  )
  endpoint(
    app,
    {
      method: 'get',
      path: '/v1/me/skills',
      summary: 'Names and descriptions of skills, by name',
      query: schemas.skillQuery,
      answer: z.object({ skills: z.array(skill) }),
    },
    ({ context, principal, query }) => askUser(context.var.settings, userScope(principal), 'skills', query),
  )
  endpoint(
    app,
    { method: 'get', path: '/v1/me/skills/{name}', summary: 'A skill, and its SKILL.md', answer: skill },
    ({ context, principal, param }) =>
      askUser(context.var.settings, userScope(principal), 'skill', { name: param('name') }),
  )
  endpoint(
    app,
    {
      method: 'put',
      path: '/v1/me/skills/{name}',
      summary: 'Writes a skill of at most 64 KiB: a SKILL.md as text/markdown, or its parts as JSON',
      media: { body: 'text/markdown' },
      answer: written,
    },
    async ({ context, principal, param, ifVersion, opId }) => {
      const { raw } = context.req
      const isMarkdown = raw.headers.get('Content-Type')?.startsWith('text/markdown')
      const { value, bytes } = await (isMarkdown ? readText(raw) : readJson(raw))
      return askUser(
        context.var.settings,
        userScope(principal),
        'setSkill',
        {
          name: param('name'),
          skill: isMarkdown ? value : fromWire(checked(schemas.skill, value, 'body')),
          ...(ifVersion !== undefined && { ifVersion }),
        } as never,
        { ...(opId !== undefined && { opId }), bytes },
      )
    },
  )
  endpoint(
    app,
    { method: 'delete', path: '/v1/me/skills/{name}', summary: 'Removes a skill' },
    ({ context, principal, param, ifVersion, opId }) =>
      askUser(
        context.var.settings,
        userScope(principal),
        'deleteSkill',
        { name: param('name'), ...(ifVersion !== undefined && { ifVersion }) },
        opId === undefined ? {} : { opId },
      ),
  )
  endpoint(
    app,
    {
      method: 'post',
      path: '/v1/me/recall',
      summary: 'What a query finds among the user’s facts, and in the sessions that are named',
      body: schemas.recall,
      answer: z.object({ items: z.array(schemas.any) }),
    },
    ({ context, principal, body }) => askUser(context.var.settings, userScope(principal), 'recall', body),
  )
  endpoint(
    app,
    {
      method: 'post',
      path: '/v1/me/claim',
      summary: 'Moves the sessions and facts of a guest to the caller; repeating it moves what is left',
      body: schemas.claim,
      answer: z.object({
        sessions: z.array(z.object({ from: z.string(), to: z.string() })),
        facts: z.number(),
      }),
    },
    async ({ context, principal, body: { token } }) => {
      const { guests } = context.var.settings
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
      return onUser(context.var.settings, scope, (object) => object.claim(scope, userScope(guest)))
    },
  )
}

/** Tokens for people who have not signed in. */
export function guestRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      method: 'post',
      path: '/v1/guests',
      summary: 'A token for somebody who has not signed in',
      answer: z.object({ token: z.string(), user_id: z.string(), expires_at: z.number() }),
      status: 201,
      isOpen: true,
    },
    async ({ context }) => {
      const { guests } = context.var.settings
      if (!guests) throw new PlimsollError('ERR_NOT_FOUND', 'guests: this edge lets no guests in')
      return answer(await guests.issue())
    },
  )
}
