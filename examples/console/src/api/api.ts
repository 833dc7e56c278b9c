import type { components, paths } from 'example-client/gateway-types'
import createClient, { type Client } from 'openapi-fetch'
import type { Category, Layer, QuotaStatus, Settings, UserQuota } from '../limits.ts'
import { isId } from '../route.ts'
import { ApiError, type ErrorCode, toApiError } from './api-error.ts'

type Schemas = components['schemas']
export type UserPage = Schemas['ListUsersAnswer']
export type ListedUser = UserPage['items'][number]
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
export type ErrorCounts = Schemas['ServerErrorsAnswer']['items']
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

/** Whose usage to reset. Without a category: all of it. */
export interface Reset {
  readonly layer: Layer
  readonly category?: Category
}

/** A listed credential, without its secret. */
export type Credential = Schemas['ListBotsAnswer']['items'][number]

/** The credentials of one kind, or of one user. */
export interface Credentials {
  list(): Promise<Credential[]>
  issue(name: string): Promise<Issued>
  /** Issues a successor. The former credential stays valid for the grace. */
  rotate(id: string, graceSeconds: number): Promise<Issued>
  revoke(id: string): Promise<void>
}

export type UserSearch = NonNullable<paths['/admin/users']['get']['parameters']['query']>
export type AuditSearch = NonNullable<paths['/admin/audit']['get']['parameters']['query']>

interface Answered<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

type Ask<T> = (client: Client<paths>) => Promise<Answered<T>>
type Got<T> = { readonly data: T; readonly response: Response }

export type CredentialKind = 'bots' | 'chart-keys'

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

  /** @throws {ApiError} `precondition_failed` if someone else saved first, as all changes with an ETag do */
  async replaceSettings(body: Settings, etag: string): Promise<Stored<Settings>> {
    const options = { params: { header: { 'If-Match': etag } }, body }
    return stored(await this.write((client) => client.PUT('/admin/quota/settings', options)))
  }

  async userQuota(id: string): Promise<Versioned<UserQuota>> {
    return versioned(await this.read((client) => client.GET('/admin/users/{id}/quota', { params: { path: { id } } })))
  }

  async replaceUserQuota(id: string, body: UserQuota, etag: string): Promise<Stored<UserQuota>> {
    const params = { path: { id }, header: { 'If-Match': etag } }
    return stored(await this.write((client) => client.PUT('/admin/users/{id}/quota', { params, body })))
  }

  async quotaStatus(id: string): Promise<QuotaStatus> {
    return this.#get((client) => client.GET('/admin/users/{id}/quota/status', { params: { path: { id } } }))
  }

  async resetQuota(id: string, reset: Reset): Promise<QuotaStatus> {
    const options = { params: { path: { id } }, body: reset }
    return (await this.write((client) => client.POST('/admin/users/{id}/quota/reset', options))).data
  }

  async holds(id: string): Promise<Hold[]> {
    const params = { path: { id } }
    return (await this.#get((client) => client.GET('/admin/users/{id}/quota/holds', { params }))).items
  }

  async releaseHold(id: string, ref: string): Promise<void> {
    const params = { path: { id, ref } }
    await this.write((client) => client.DELETE('/admin/users/{id}/quota/holds/{ref}', { params }))
  }

  /** @param query everyone's without a user */
  async refusals(query: { readonly userId?: string } = {}): Promise<Refusals> {
    return this.#get((client) => client.GET('/admin/refusals', { params: { query } }))
  }

  async users(query: UserSearch): Promise<UserPage> {
    return this.#get((client) => client.GET('/admin/users', { params: { query } }))
  }

  async user(id: string): Promise<Versioned<User>> {
    return versioned(await this.read((client) => client.GET('/admin/users/{id}', { params: { path: { id } } })))
  }

  async changeUser(id: string, body: UserChange, etag: string): Promise<Stored<User>> {
    const params = { path: { id }, header: { 'If-Match': etag } }
    return stored(await this.write((client) => client.PUT('/admin/users/{id}', { params, body })))
  }

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
  async setBalance(id: string, set: number, from: number): Promise<number> {
    const options = { params: { path: { id } }, body: { set, from } }
    return (await this.write((client) => client.POST('/admin/users/{id}/balance', options))).data.balance
  }

  /** The gateway tokens of a user. */
  tokensOf(id: string): Credentials {
    const path = { id }
    return {
      list: async () => {
        const { items } = await this.#get((client) => client.GET('/admin/users/{id}/tokens', { params: { path } }))
        return items.map(({ label, ...rest }) => ({ ...rest, name: label }))
      },
      issue: async (label) => {
        const options = { params: { path }, body: label === '' ? {} : { label } }
        return (await this.write((client) => client.POST('/admin/users/{id}/tokens', options))).data
      },
      rotate: async (tokenId, graceSeconds) => {
        const options = { params: { path: { id, tokenId } }, body: { graceSeconds } }
        return (await this.write((client) => client.POST('/admin/users/{id}/tokens/{tokenId}/rotate', options))).data
      },
      revoke: async (tokenId) => {
        const params = { path: { id, tokenId } }
        await this.write((client) => client.DELETE('/admin/users/{id}/tokens/{tokenId}', { params }))
      },
    }
  }

  /** The credentials of another service. */
  credentialsOf(kind: CredentialKind): Credentials {
    return {
      list: async () => (await this.#get((client) => client.GET(`/admin/${kind}`))).items,
      issue: async (name) => (await this.write((client) => client.POST(`/admin/${kind}`, { body: { name } }))).data,
      rotate: async (id, graceSeconds) => {
        const options = { params: { path: { id } }, body: { graceSeconds } }
        return (await this.write((client) => client.POST(`/admin/${kind}/{id}/rotate`, options))).data
      },
      revoke: async (id) => {
        await this.write((client) => client.DELETE(`/admin/${kind}/{id}`, { params: { path: { id } } }))
      },
    }
  }

  async audit(query: AuditSearch): Promise<AuditPage> {
    return this.#get((client) => client.GET('/admin/audit', { params: { query } }))
  }

  async adaptive(): Promise<Adaptive> {
    return this.#get((client) => client.GET('/admin/quota/adaptive'))
  }

  /** Outcomes of the last 7 days. */
  async failures(bucketMinutes: 10 | 30): Promise<Failures> {
    const query = { days: 7, bucketMinutes: `${bucketMinutes}` } as const
    return this.#get((client) => client.GET('/admin/usage/failure-rate', { params: { query } }))
  }

  /** @param query instants in ISO 8601 */
  async errors(query: { readonly since?: string; readonly until?: string }): Promise<ErrorCounts> {
    return (await this.#get((client) => client.GET('/admin/usage/errors', { params: { query } }))).items
  }

  async requestHistory(range: '24h' | '7d'): Promise<RequestHistory> {
    return this.#get((client) => client.GET('/admin/overview/requests', { params: { query: { range } } }))
  }

  async #get<T>(ask: Ask<T>): Promise<T> {
    return (await this.read(ask)).data
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

/** Separates the warnings from the document. */
function stored<T extends object>({ data, response }: Got<T & { readonly warnings?: readonly Remark[] }>): Stored<T> {
  const { warnings = [], ...document } = data
  return { ...versioned({ data: document as unknown as T, response }), warnings }
}

function versioned<T>({ data, response }: { data: T; response: Response }): Versioned<T> {
  return { etag: response.headers.get('ETag') ?? '', document: data }
}
