import type { Request } from 'express'
import { success } from '../http/envelope.ts'
import type { ErrorCode } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import { fishBody, importAnswer, lxBody } from './bodies.ts'
import { isAboutPlayer } from './source-fault.ts'
import type { ImportResult } from './source-imports.ts'
import type { Sources } from './sources.ts'

const ERRORS = [
  'sync_in_progress',
  'source_credential_rejected',
  'source_unreachable',
  'source_bad_response',
  'source_error',
  'source_rate_limited',
  'source_timeout',
] as const satisfies readonly ErrorCode[]

const PRICE = "A request is also charged when the source refuses the player's credential."

/** Importing scores from the two public sources. */
export function sourceRoutes({ imports, lxns, fish }: Sources): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/update-lx',
      docs: {
        id: 'updateLx',
        tag: 'Source',
        summary: 'Read scores from LXNS and keep the best',
        description: `Reads the player's scores from LXNS and keeps the best of each field. ${PRICE}`,
        example: { key: '<LXNS_TOKEN>' },
        bodyForm: lxBody.form,
        errors: ERRORS,
      },
      access: 'user',
      body: lxBody.body,
      answer: importAnswer,
      operation: 'source.lx',
      async handle({ req, user, input }) {
        return { body: success(await settled(req, imports.run(user.id, lxns, input))) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/update-fish',
      docs: {
        id: 'updateFish',
        tag: 'Source',
        summary: 'Read scores from Diving-Fish and keep the best',
        description: `Reads the player's scores from Diving-Fish and keeps the best of each field. ${PRICE}`,
        example: { token: '<IMPORT_TOKEN>' },
        bodyForm: fishBody.form,
        errors: [...ERRORS, 'source_privacy'],
      },
      access: 'user',
      body: fishBody.body,
      answer: importAnswer,
      operation: 'source.fish',
      async handle({ req, user, input }) {
        return { body: success(await settled(req, imports.run(user.id, fish, input))) }
      },
    }),
  ]
}

/** Failures cost nothing, except answers about the player: there the source did its work. */
async function settled(req: Request, work: Promise<ImportResult>): Promise<ImportResult> {
  try {
    return await work
  } catch (error) {
    if (isAboutPlayer(error)) await req.quota?.commit()
    throw error
  }
}
