import type { components, paths } from 'example-client/gateway-types'
import createClient, { type Client } from 'openapi-fetch'
import type { Category, Layer, QuotaStatus, Settings, UserQuota } from '../limits.ts'
import { isId } from '../route.ts'
import { ApiError, type ErrorCode, toApiError } from './api-error.ts'

type Schemas = components['schemas']
export type UserPage = Schemas['ListUsersAnswer']
export type User = Schemas['FindUserAnswer']
export type UserChange = Schemas['PutUserBody']
export type Adaptive = Schemas['AdaptiveFactorAnswer']
export type Move = Adaptive['history'][number]
export type Failures = Schemas['FailureRateAnswer']
export type Bucket = Failures['series'][number]
export type AuditPage = Schemas['ListAuditAnswer']
export type AuditEntry = AuditPage['items'][number]
export type Overview = Schemas['Overview']
export type RequestHistory = Schemas['RequestHistoryAnswer']
export type Issued = Schemas['IssueTokenAnswer']
export type Hold = Schemas['Hold']
export type Refusals = Schemas['LatestRefusalsAnswer']

/** A document and its version, which a change must name. */
export interface Versioned<T> {
  readonly etag: string
  readonly document: T
}

interface Remark {
  readonly path: string
  readonly msg: string
}

/** A stored document and warnings: values that make an operation impossible. */
export interface Stored<T> extends Versioned<T> {
  readonly warnings: readonly Remark[]
}

/** Adds credits, or sets them if they are still `from`. */
export type BalanceChange = { readonly add: number } | { readonly set: number; readonly from: number }

/** Whose usage to reset. Without a category: all of it. */
export interface Reset {
  readonly layer: Layer
  readonly category?: Category
}

/** A listed credential, without its secret. */
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

type Ask<T> = (client: Client<paths>) => Promise<Answered<T>>
type Got<T> = { readonly data: T; readonly response: Response }

export type CredentialKind = 'bots' | 'chart-keys'

/** Users per page. */
const PAGE = 50

/** The gateway's API for one administrator. The token is kept here only. */
export class Api {
  readonly #client: Client<paths>
  readonly #onEnded: () => void
  /** `undefined` when the gateway rejected the token, until the administrator signs in again. */
  #token: string | undefined
  #waiting: (() => void)[] = []

  /**
   * @param token a valid token
   * @param onEnded called when the token becomes invalid. Then reads wait for another token, and writes fail.
   */
  constructor(token: string, onEnded: () => void) {
    this.#token = token
    this.#client = clientWith(() => this.#token)
    this.#onEnded = onEnded
  }

  renew(token: string): void {
    this.#token = token
    const waiting = this.#waiting
    this.#waiting = []
    for (const goOn of waiting) goOn()
  }

  async settings(): Promise<Versioned<Settings>> {
    return versioned(await this.read((client) => client.GET('/admin/quota/settings')))
  }

  /** @throws {ApiError} `precondition_failed` if someone else saved first */
  async replaceSettings(settings: Settings, etag: string): Promise<Stored<Settings>> {
    const header = { 'If-Match': etag }
    const options = { params: { header }, body: settings }
    const answer = await this.write((client) => client.PUT('/admin/quota/settings', options))
    const { warnings, ...document } = answer.data
    return { ...versioned({ ...answer, data: document }), warnings }
  }

  /**
   * Sends a merge patch.
   *
   * @throws {ApiError} `precondition_failed` if someone else saved first
   */
  async patchSettings(body: Record<string, unknown>, etag: string): Promise<void> {
    const header = { 'If-Match': etag }
    await this.write((client) => client.PATCH('/admin/quota/settings', { params: { header }, body }))
  }

  async userQuota(id: string): Promise<Versioned<UserQuota>> {
    return versioned(await this.read((client) => client.GET('/admin/users/{id}/quota', { params: { path: { id } } })))
  }

  /** @throws {ApiError} `precondition_failed` if someone else saved first */
  async replaceUserQuota(id: string, body: UserQuota, etag: string): Promise<Stored<UserQuota>> {
    const params = { path: { id }, header: { 'If-Match': etag } }
    const answer = await this.write((client) => client.PUT('/admin/users/{id}/quota', { params, body }))
    const { warnings, ...document } = answer.data
    return { ...versioned({ ...answer, data: document }), warnings }
  }

  async quotaStatus(id: string): Promise<QuotaStatus> {
    return (await this.read((client) => client.GET('/admin/users/{id}/quota/status', { params: { path: { id } } })))
      .data
  }

  async resetQuota(id: string, reset: Reset): Promise<QuotaStatus> {
    const options = { params: { path: { id } }, body: reset }
    return (await this.write((client) => client.POST('/admin/users/{id}/quota/reset', options))).data
  }

  async holds(id: string): Promise<Hold[]> {
    const params = { path: { id } }
    return (await this.read((client) => client.GET('/admin/users/{id}/quota/holds', { params }))).data.items
  }

  async releaseHold(id: string, ref: string): Promise<void> {
    const params = { path: { id, ref } }
    await this.write((client) => client.DELETE('/admin/users/{id}/quota/holds/{ref}', { params }))
  }

  /** @param userId leave it out for everyone's */
  async refusals(userId?: string): Promise<Refusals> {
    const query = userId === undefined ? {} : { userId }
    return (await this.read((client) => client.GET('/admin/refusals', { params: { query } }))).data
  }

  async users(text: string, cursor: string | null): Promise<UserPage> {
    const search = text === '' ? {} : { query: text }
    const query = { limit: PAGE, ...search, ...(cursor === null ? {} : { cursor }) }
    return (await this.read((client) => client.GET('/admin/users', { params: { query } }))).data
  }

  async user(id: string): Promise<Versioned<User>> {
    return versioned(await this.read((client) => client.GET('/admin/users/{id}', { params: { path: { id } } })))
  }

  /** @throws {ApiError} `precondition_failed` if someone else saved first */
  async changeUser(id: string, body: UserChange, etag: string): Promise<Versioned<User>> {
    const params = { path: { id }, header: { 'If-Match': etag } }
    return versioned(await this.write((client) => client.PUT('/admin/users/{id}', { params, body })))
  }

  /** @throws {ApiError} `precondition_failed` if someone else saved first */
  async removeUser(id: string, etag: string): Promise<void> {
    const params = { path: { id }, header: { 'If-Match': etag } }
    await this.write((client) => client.DELETE('/admin/users/{id}', { params }))
  }

  /** @throws {ApiError} `precondition_failed` if the id exists */
  async createUser(id: string, body: UserChange): Promise<void> {
    const params = { path: { id }, header: { 'If-None-Match': '*' } }
    await this.write((client) => client.PUT('/admin/users/{id}', { params, body }))
  }

  /** @throws {ApiError} `precondition_failed` if the balance is no longer `from` */
  async changeBalance(id: string, body: BalanceChange): Promise<number> {
    const options = { params: { path: { id } }, body }
    return (await this.write((client) => client.POST('/admin/users/{id}/balance', options))).data.balance
  }

  async tokens(id: string): Promise<Credential[]> {
    const { data } = await this.read((client) => client.GET('/admin/users/{id}/tokens', { params: { path: { id } } }))
    return data.items.map(({ label, ...rest }) => ({ ...rest, name: label }))
  }

  async issueToken(id: string, label: string): Promise<Issued> {
    const options = { params: { path: { id } }, body: label === '' ? {} : { label } }
    return (await this.write((client) => client.POST('/admin/users/{id}/tokens', options))).data
  }

  async revokeToken(id: string, tokenId: string): Promise<void> {
    await this.write((client) =>
      client.DELETE('/admin/users/{id}/tokens/{tokenId}', { params: { path: { id, tokenId } } }),
    )
  }

  async credentials(kind: CredentialKind): Promise<Credential[]> {
    return (await this.read((client) => client.GET(`/admin/${kind}`))).data.items
  }

  async issueCredential(kind: CredentialKind, name: string): Promise<Issued> {
    return (await this.write((client) => client.POST(`/admin/${kind}`, { body: { name } }))).data
  }

  async revokeCredential(kind: CredentialKind, id: string): Promise<void> {
    await this.write((client) => client.DELETE(`/admin/${kind}/{id}`, { params: { path: { id } } }))
  }

  /** @param action leave it out for entries of every kind */
  async audit(cursor: string | null, action?: AuditEntry['action']): Promise<AuditPage> {
    const query = { ...(cursor === null ? {} : { cursor }), ...(action === undefined ? {} : { action }) }
    return (await this.read((client) => client.GET('/admin/audit', { params: { query } }))).data
  }

  async adaptive(): Promise<Adaptive> {
    return (await this.read((client) => client.GET('/admin/quota/adaptive'))).data
  }

  async failures(days: 1 | 7, bucketMinutes: 10 | 30): Promise<Failures> {
    const query = { days: `${days}`, bucketMinutes: `${bucketMinutes}` } as const
    return (await this.read((client) => client.GET('/admin/usage/failure-rate', { params: { query } }))).data
  }

  async requestHistory(range: '24h' | '7d'): Promise<RequestHistory> {
    const params = { query: { range } }
    return (await this.read((client) => client.GET('/admin/overview/requests', { params }))).data
  }

  /**
   * Reads. Without a valid token it waits for the next sign-in.
   *
   * @throws {ApiError}
   */
  async read<T>(ask: Ask<T>): Promise<Got<T>> {
    for (;;) {
      if (this.#token === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      try {
        return await this.write(ask)
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
    }
  }

  /**
   * Writes. Without a valid token it fails, because someone else may sign in next.
   *
   * @throws {ApiError}
   */
  async write<T>(ask: Ask<T>): Promise<Got<T>> {
    const token = this.#token
    if (token === undefined) throw new ApiError('unauthorized', 401)
    try {
      return await answerOf(() => ask(this.#client))
    } catch (error) {
      if (isRefusal(error) && token === this.#token) {
        this.#token = undefined
        this.#onEnded()
      }
      throw error
    }
  }
}

/**
 * Checks a token.
 *
 * @throws {ApiError} `unauthorized` if the token is invalid, `forbidden` if its user isn't an administrator
 */
export async function checkToken(token: string): Promise<void> {
  const client = clientWith(() => token)
  await answerOf(() => client.GET('/admin/quota/settings'))
}

function clientWith(token: () => string | undefined): Client<paths> {
  // One folder above the console's own, because a proxy may add a path.
  const baseUrl = new URL('..', location.href).href.replace(/\/$/, '')
  const client = createClient<paths>({ baseUrl, cache: 'no-store' })
  client.use({
    onRequest({ request, params: { path = {} } }) {
      const wrong = Object.values(path).find((id) => !isId(String(id)))
      if (wrong !== undefined) throw new ApiError('not_found', 0)
      request.headers.set('Authorization', `Bearer ${token() ?? ''}`)
    },
  })
  return client
}

async function answerOf<T>(ask: () => Promise<Answered<T>>): Promise<Got<T>> {
  const { data, error, response } = await ask().catch((cause: unknown) => {
    throw cause instanceof TypeError ? new ApiError('unreachable', 0) : cause
  })
  if (!response.ok) throw toApiError(response.status, error)
  return { data: data as T, response }
}

/** Error codes that reject the token itself. */
const REFUSALS: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'user_disabled']

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && REFUSALS.includes(error.code)
}

function versioned<T>({ data, response }: { data: T; response: Response }): Versioned<T> {
  return { etag: response.headers.get('ETag') ?? '', document: data }
}
