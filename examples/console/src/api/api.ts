import type { components, paths } from 'example-client/gateway-types'
import createClient, { type Client } from 'openapi-fetch'
import { ApiError, toApiError } from './api-error.ts'
import type { Hold, Policy, QuotaStatus, Reset, Settings, UserQuota } from './documents.ts'
import { eventsOf } from './event-stream.ts'

type Schemas = components['schemas']
type UserQuotaQuery = NonNullable<paths['/admin/users/{id}/quota']['get']['parameters']['query']>
export type UserPage = Schemas['ListUsersAnswer']
export type User = UserPage['items'][number]
export type UserChange = Schemas['PutUserBody']
export type Adaptive = Schemas['AdaptiveFactorAnswer']
export type Move = Adaptive['history'][number]
export type Failures = Schemas['FailureRateAnswer']
export type Bucket = Failures['series'][number]
export type AuditPage = Schemas['ListAuditAnswer']
export type AuditEntry = AuditPage['items'][number]
export type Overview = Schemas['Overview']
export type Issued = Schemas['IssueTokenAnswer']

/** A document with the version that a change of it has to name. */
export interface Versioned<T> {
  readonly etag: string
  readonly document: T
}

/** Something to be said of a member of a document. */
export interface Remark {
  readonly path: string
  readonly msg: string
}

/** What a document became, and what in it makes an operation impossible. */
export interface Stored<T> extends Versioned<T> {
  readonly warnings: readonly Remark[]
}

/** A credential as it is listed: never the credential itself. */
export interface Credential {
  readonly id: string
  readonly name: string
  readonly createdAt: string
}

interface Answered<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

/** The services that bots and chart keys are for. */
export type CredentialKind = 'bots' | 'chart-keys'

/** Users of a page of their list. */
const PAGE = 50
const LARGEST_PAGE = 100

/** The administration API, with one administrator's token, which is kept nowhere else. */
export class Api {
  readonly #client: Client<paths>
  readonly #onRefused: () => void

  /** @param onRefused called when the token is not, or no longer, good */
  constructor(token: string, onRefused: () => void) {
    // One folder above the console's: there may be a proxy with a path of its own.
    const baseUrl = new URL('..', location.href).href.replace(/\/$/, '')
    this.#client = createClient({ baseUrl, headers: { Authorization: `Bearer ${token}` }, cache: 'no-store' })
    this.#onRefused = onRefused
  }

  /** What is going on, each second, until the gateway ends it or the signal does. */
  async *overviewEvents(signal: AbortSignal): AsyncGenerator<Overview> {
    const options = { parseAs: 'stream', signal } as const
    const { data, response } = await this.#asked(this.#client.GET('/admin/overview/events', options))
    if (data === null) throw new ApiError('internal_error', response.status)
    for await (const event of eventsOf(data)) yield JSON.parse(event) as Overview
  }

  async policy(): Promise<Policy> {
    return (await this.#asked(this.#client.GET('/admin/quota/policy'))).data
  }

  async settings(): Promise<Versioned<Settings>> {
    return versioned(await this.#asked(this.#client.GET('/admin/quota/settings')))
  }

  /** @throws {ApiError} `precondition_failed` when somebody else was faster */
  async replaceSettings(settings: Settings, etag: string): Promise<Stored<Settings>> {
    const header = { 'If-Match': etag }
    const body = asSent<'ReplaceSettingsBody'>(settings)
    const answer = await this.#asked(this.#client.PUT('/admin/quota/settings', { params: { header }, body }))
    const { warnings, ...document } = answer.data
    return { ...versioned({ ...answer, data: document }), warnings }
  }

  /** @param layer one that each user has windows of; left out: the first of them */
  async userQuota(id: string, layer?: string): Promise<Versioned<UserQuota>> {
    const params = { path: { id }, query: queryOf(layer) }
    return versioned(await this.#asked(this.#client.GET('/admin/users/{id}/quota', { params })))
  }

  /** @throws {ApiError} `precondition_failed` when somebody else was faster */
  async replaceUserQuota(id: string, layer: string, quota: UserQuota, etag: string): Promise<Stored<UserQuota>> {
    const params = { path: { id }, query: queryOf(layer), header: { 'If-Match': etag } }
    const body = asSent<'ReplaceUserQuotaBody'>(quota)
    const answer = await this.#asked(this.#client.PUT('/admin/users/{id}/quota', { params, body }))
    const { warnings, ...document } = answer.data
    return { ...versioned({ ...answer, data: document }), warnings }
  }

  async quotaStatus(id: string): Promise<QuotaStatus> {
    return (await this.#asked(this.#client.GET('/admin/users/{id}/quota/status', { params: { path: { id } } }))).data
  }

  async resetQuota(id: string, reset: Reset): Promise<QuotaStatus> {
    const options = { params: { path: { id } }, body: asSent<'ResetUserQuotaBody'>(reset) }
    return (await this.#asked(this.#client.POST('/admin/users/{id}/quota/reset', options))).data
  }

  async holds(id: string): Promise<Hold[]> {
    const params = { path: { id } }
    return (await this.#asked(this.#client.GET('/admin/users/{id}/quota/holds', { params }))).data.items
  }

  async releaseHold(id: string, ref: string): Promise<void> {
    const params = { path: { id, ref } }
    await this.#asked(this.#client.DELETE('/admin/users/{id}/quota/holds/{ref}', { params }))
  }

  async users(text: string, cursor: string | null, limit: number = PAGE): Promise<UserPage> {
    const search = text === '' ? {} : { query: text }
    const query = { limit: String(limit), ...search, ...(cursor === null ? {} : { cursor }) }
    return (await this.#asked(this.#client.GET('/admin/users', { params: { query } }))).data
  }

  /** The user with exactly this id; the API has a list alone, which is walked through to the id's place. */
  async user(id: string): Promise<User> {
    let cursor: string | null = null
    do {
      // Nobody else's id is before it that does not hold it, so that the first page is nearly always enough.
      const page: UserPage = await this.users(id.slice(0, 64), cursor, LARGEST_PAGE)
      const found = page.items.find((each) => each.id === id)
      if (found !== undefined) return found
      cursor = page.nextCursor
    } while (cursor !== null)
    throw new ApiError('not_found', 404)
  }

  /** Creates a user, or changes what is named of one. */
  async putUser(id: string, body: UserChange): Promise<User> {
    return (await this.#asked(this.#client.PUT('/admin/users/{id}', { params: { path: { id } }, body }))).data
  }

  async changeBalance(id: string, body: { add: number } | { set: number }): Promise<number> {
    const options = { params: { path: { id } }, body }
    return (await this.#asked(this.#client.POST('/admin/users/{id}/balance', options))).data.balance
  }

  async tokens(id: string): Promise<Credential[]> {
    const { data } = await this.#asked(this.#client.GET('/admin/users/{id}/tokens', { params: { path: { id } } }))
    return data.items.map(({ label, ...rest }) => ({ ...rest, name: label }))
  }

  async issueToken(id: string, label: string): Promise<Issued> {
    const options = { params: { path: { id } }, body: label === '' ? {} : { label } }
    return (await this.#asked(this.#client.POST('/admin/users/{id}/tokens', options))).data
  }

  async revokeToken(id: string, tokenId: string): Promise<void> {
    await this.#asked(this.#client.DELETE('/admin/users/{id}/tokens/{tokenId}', { params: { path: { id, tokenId } } }))
  }

  async credentials(kind: CredentialKind): Promise<Credential[]> {
    return (await this.#asked(this.#client.GET(`/admin/${kind}`))).data.items
  }

  async issueCredential(kind: CredentialKind, name: string): Promise<Issued> {
    return (await this.#asked(this.#client.POST(`/admin/${kind}`, { body: { name } }))).data
  }

  async revokeCredential(kind: CredentialKind, id: string): Promise<void> {
    await this.#asked(this.#client.DELETE(`/admin/${kind}/{id}`, { params: { path: { id } } }))
  }

  async audit(cursor: string | null): Promise<AuditPage> {
    const query = cursor === null ? {} : { cursor }
    return (await this.#asked(this.#client.GET('/admin/audit', { params: { query } }))).data
  }

  async adaptive(): Promise<Adaptive> {
    return (await this.#asked(this.#client.GET('/admin/quota/adaptive'))).data
  }

  async failures(): Promise<Failures> {
    return (await this.#asked(this.#client.GET('/admin/usage/failure-rate'))).data
  }

  async #asked<T>(answer: Promise<Answered<T>>): Promise<{ readonly data: T; readonly response: Response }> {
    const { data, error, response } = await answer.catch((cause: unknown) => {
      throw cause instanceof TypeError ? new ApiError('unreachable', 0) : cause
    })
    if (response.status === 401) this.#onRefused()
    if (!response.ok) throw toApiError(response.status, error)
    return { data: data as T, response }
  }
}

/** The gateway's types are those of one policy: what another asks for, it checks. */
function asSent<Name extends keyof Schemas>(document: object): NonNullable<Schemas[Name]> {
  return document as NonNullable<Schemas[Name]>
}

function queryOf(layer: string | undefined): UserQuotaQuery {
  return (layer === undefined ? {} : { layer }) as UserQuotaQuery
}

function versioned<T>({ data, response }: { data: T; response: Response }): Versioned<T> {
  return { etag: response.headers.get('ETag') ?? '', document: data }
}
