import { syncStrength } from '../../src/scores/bodies.ts'

/** A score as the model has it: what it is worth, who reported it, and whose sync it came from whole. */
export interface ModelScore {
  readonly achievement: number
  readonly dxScore: number
  readonly combo: number
  readonly sync: number
  readonly source: 'api' | 'lx' | 'bot'
  readonly whole: number | null
}

export type ModelPlay = Omit<ModelScore, 'source' | 'whole'>

/** A record of a request: a chart, and what it is worth; `undefined`: it cannot be read. */
export interface ModelRecord {
  readonly chart: string
  readonly play: ModelPlay | undefined
}

export interface ModelRequest {
  readonly qq: number
  readonly id: string | undefined
  readonly isFull: boolean
  readonly isFinal: boolean
  readonly index: number | undefined
  readonly total: number | undefined
  readonly records: readonly ModelRecord[]
}

interface Counts {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
}

/** An error's code, or the answer's counts: `stored_records` are the player's now, whenever the counts were made. */
export type ModelAnswer = string | (Counts & { readonly status: 'partial' | 'ok'; readonly stored_records: number })
type Answered = string | (Counts & { readonly status: 'partial' | 'ok' })

interface ModelSnapshot {
  readonly isFull: boolean
  state: 'open' | 'finished' | 'expired'
  owner: string | undefined
  total: number | undefined
  hasFinal: boolean
  valid: number
  touchedAt: number
  readonly chunks: { readonly index: number | undefined; readonly content: string; readonly counts: Counts }[]
  /** Charts that it has, or that another request of the bot touched since its first chunk. */
  readonly had: Set<string>
}

const IDLE_MS = 30 * 60_000

/** Score sync by its rules, without turns, tables and locks. */
export class SyncModel {
  /** By user, or by `qq` where there is none. */
  readonly #scores = new Map<string, Map<string, ModelScore>>()
  readonly #links = new Map<number, string>()
  readonly #snapshots = new Map<string, ModelSnapshot>()

  scoresOf(owner: string): Map<string, ModelScore> {
    const known = this.#scores.get(owner) ?? new Map<string, ModelScore>()
    this.#scores.set(owner, known)
    return known
  }

  ownerOf(qq: number): string {
    return this.#links.get(qq) ?? `qq ${qq}`
  }

  /** `false`: the account is another user's. */
  link(user: string, qq: number | null): boolean {
    if (qq !== null && (this.#links.get(qq) ?? user) !== user) return false
    for (const [other, owner] of this.#links) if (owner === user) this.#links.delete(other)
    if (qq === null) return true
    this.#links.set(qq, user)
    const kept = this.scoresOf(`qq ${qq}`)
    const own = this.scoresOf(user)
    for (const [chart, score] of kept) {
      const before = own.get(chart)
      const isOurs = before?.source === 'bot' && before.whole === qq
      if (before === undefined) own.set(chart, score)
      else if (!isSame(before, best(before, score))) {
        own.set(chart, { ...best(before, score), source: 'bot', whole: isOurs ? qq : null })
      }
    }
    kept.clear()
    return true
  }

  overwrite(user: string, chart: string, play: ModelPlay): void {
    const before = this.scoresOf(user).get(chart)
    if (before === undefined || !isSame(before, play))
      this.scoresOf(user).set(chart, { ...play, source: 'api', whole: null })
  }

  improve(user: string, chart: string, play: ModelPlay): void {
    const before = this.scoresOf(user).get(chart)
    const after = before === undefined ? play : best(before, play)
    if (before === undefined || !isSame(before, after))
      this.scoresOf(user).set(chart, { ...after, source: 'lx', whole: null })
  }

  remove(user: string, chart: string): void {
    this.scoresOf(user).delete(chart)
  }

  sync(request: ModelRequest, now: number): ModelAnswer {
    const answer = this.#answer(request, now)
    if (typeof answer === 'string') return answer
    return { ...answer, stored_records: this.scoresOf(this.ownerOf(request.qq)).size }
  }

  #answer(request: ModelRequest, now: number): Answered {
    const { qq, id } = request
    const open = this.#open(qq, now)
    if (id === undefined)
      return { status: 'ok', ...this.#store(request, false, open?.isFull === true ? open : undefined) }
    const key = `${qq} ${id}`
    const known = this.#snapshots.get(key)
    if (known?.state === 'expired') return 'snapshot_expired'
    if (known === undefined && open !== undefined) return 'snapshot_open'
    const snapshot: ModelSnapshot = known ?? {
      isFull: request.isFull,
      state: 'open',
      owner: this.#links.get(qq),
      total: request.total,
      hasFinal: false,
      valid: 0,
      touchedAt: now,
      chunks: [],
      had: new Set(),
    }
    this.#snapshots.set(key, snapshot)
    return snapshot.state === 'finished' ? this.#finished(request, snapshot) : this.#chunk(key, request, snapshot, now)
  }

  #open(qq: number, now: number): ModelSnapshot | undefined {
    const all = [...this.#snapshots].filter(([key]) => key.startsWith(`${qq} `)).map(([, each]) => each)
    for (const each of all.filter(({ state }) => state === 'open')) {
      const isMoved = each.owner !== undefined && each.owner !== this.#links.get(qq)
      if (isMoved || now - each.touchedAt >= IDLE_MS) each.state = 'expired'
    }
    return all.find(({ state }) => state === 'open')
  }

  #finished(request: ModelRequest, { chunks }: ModelSnapshot): Answered {
    const content = JSON.stringify(request.records)
    const known = chunks.find((each) => each.content === content && (request.index ?? each.index) === each.index)
    if (known !== undefined) return { status: 'ok', ...known.counts }
    return { status: 'ok', imported: 0, updated: 0, skipped: request.records.length }
  }

  #chunk(key: string, request: ModelRequest, snapshot: ModelSnapshot, now: number): Answered {
    const { qq, index, total, records, isFinal } = request
    const content = JSON.stringify(records)
    const known = snapshot.chunks.find((each) =>
      index === undefined ? each.content === content : each.index === index,
    )
    if (known !== undefined && known.content !== content) return 'chunk_conflict'
    const chunk = known ?? { index, content, counts: this.#store(request, snapshot.isFull, snapshot) }
    if (known === undefined) {
      snapshot.chunks.push(chunk)
      snapshot.valid += readable(records).length
    }
    snapshot.touchedAt = now
    snapshot.owner = this.#links.get(qq)
    snapshot.total ??= total
    snapshot.hasFinal ||= isFinal
    if (!snapshot.hasFinal) return { status: 'partial', ...chunk.counts }
    if (snapshot.chunks.length < (snapshot.total ?? 0)) {
      return isFinal ? 'snapshot_incomplete' : { status: 'partial', ...chunk.counts }
    }
    if (snapshot.isFull && snapshot.valid === 0) {
      this.#snapshots.delete(key)
      return 'snapshot_empty'
    }
    const scores = this.scoresOf(this.ownerOf(qq))
    for (const [chart, { source, whole }] of snapshot.isFull ? [...scores] : []) {
      if (source === 'bot' && whole === qq && !snapshot.had.has(chart)) scores.delete(chart)
    }
    snapshot.state = 'finished'
    return { status: 'ok', ...chunk.counts }
  }

  #store({ qq, records }: ModelRequest, isFull: boolean, open: ModelSnapshot | undefined): Counts {
    const scores = this.scoresOf(this.ownerOf(qq))
    let imported = 0
    let updated = 0
    for (const { chart, play } of readable(records)) {
      open?.had.add(chart)
      const before = scores.get(chart)
      const isOurs = before?.source === 'bot' && before.whole === qq
      const after = before === undefined || isFull ? play : best(before, play)
      if (before !== undefined && isSame(before, after)) continue
      scores.set(chart, { ...after, source: 'bot', whole: before === undefined || isFull || isOurs ? qq : null })
      if (before === undefined) imported++
      else updated++
    }
    for (const { chart, play } of records) if (play === undefined && scores.has(chart)) open?.had.add(chart)
    return { imported, updated, skipped: records.length - imported - updated }
  }
}

/** Those that can be read, the first of each chart. */
function readable(records: readonly ModelRecord[]): { chart: string; play: ModelPlay }[] {
  const seen = new Map<string, ModelPlay>()
  for (const { chart, play } of records) if (play !== undefined && !seen.has(chart)) seen.set(chart, play)
  return [...seen].map(([chart, play]) => ({ chart, play }))
}

function best(a: ModelPlay, b: ModelPlay): ModelPlay {
  return {
    achievement: Math.max(a.achievement, b.achievement),
    dxScore: Math.max(a.dxScore, b.dxScore),
    combo: Math.max(a.combo, b.combo),
    sync: syncStrength(b.sync) > syncStrength(a.sync) ? b.sync : a.sync,
  }
}

function isSame(a: ModelPlay, b: ModelPlay): boolean {
  return a.achievement === b.achievement && a.dxScore === b.dxScore && a.combo === b.combo && a.sync === b.sync
}
