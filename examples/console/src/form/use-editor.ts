import { useCallback, useEffect } from 'preact/hooks'
import type { Stored, Versioned } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { useDrafts } from '../session.ts'
import { useDraft } from '../ui/use-draft.ts'
import { changedPaths, type Faults, type Fields, type Read } from './form.ts'

/** A document with versions: how to load it, edit it as a form and store it. */
export interface Editable<T, B> {
  readonly href: string
  readonly form: string
  load(): Promise<Versioned<T>>
  store(body: B, etag: string): Promise<Stored<T>>
  toFields(document: T): Fields
  read(fields: Fields): Read<B>
}

interface Version {
  readonly etag: string
  readonly fields: Fields
}

interface State {
  readonly stored: Version | undefined
  readonly draft: Fields
  /** The fields that editing began with, if someone else has saved since. */
  readonly was: Fields | undefined
  readonly isBusy: boolean
  readonly isSaved: boolean
  /** Whether saving was tried. From then on, missing values are faults. */
  readonly isTried: boolean
  readonly error: ApiError | undefined
  readonly warnings: Stored<unknown>['warnings']
}

export interface Editor extends State {
  readonly changed: readonly string[]
  readonly faults: Faults
  set(path: string, text: string): void
  setAll(fields: Fields): void
  discard(): void
  save(): Promise<void>
  reload(): Promise<void>
}

const NOTHING: State = {
  stored: undefined,
  draft: {},
  was: undefined,
  isBusy: false,
  isSaved: false,
  isTried: false,
  error: undefined,
  warnings: [],
}

/**
 * Edits a document that others may change at the same time. It never overwrites a version that was saved in between: it
 * loads that version, keeps the person's own changes over it, and waits until they are saved again. Unsaved changes
 * survive visits to other pages.
 */
export function useEditor<T, B>(of: Editable<T, B>, keys: readonly unknown[]): Editor {
  const drafts = useDrafts()
  const [state, setState] = useDraft<State>(of.href, of.form, NOTHING, isUnsaved)
  const change = useCallback((change: Partial<State>) => setState((before) => ({ ...before, ...change })), [setState])

  const versionOf = ({ etag, document }: Versioned<T>): Version => ({ etag, fields: of.toFields(document) })

  const load = async (use: (stored: Version) => void): Promise<void> => {
    change({ isBusy: true, error: undefined })
    await of.load().then(
      (loaded) => use(versionOf(loaded)),
      (error) => change({ isBusy: false, error: error as ApiError }),
    )
  }

  const reload = useCallback(
    () =>
      load((stored) => {
        const proposed = drafts.takeProposal(of.href, of.form)
        // A fast typist may have changed a field meanwhile.
        setState((before) =>
          isUnsaved(before)
            ? { ...before, isBusy: false, draft: { ...before.draft, ...proposed } }
            : { ...NOTHING, stored, draft: { ...stored.fields, ...proposed } },
        )
      }),
    keys,
  )

  useEffect(() => {
    if (!isUnsaved(state) || drafts.hasProposal(of.href, of.form)) void reload()
  }, [reload])

  const { stored, draft } = state
  const { body, faults } = of.read(draft)

  const save = async (): Promise<void> => {
    change({ isTried: true, isSaved: false, error: undefined, warnings: [], was: undefined })
    if (stored === undefined || body === undefined) return
    change({ isBusy: true })
    try {
      const answer = await of.store(body, stored.etag)
      const now = versionOf(answer)
      setState({ ...NOTHING, stored: now, draft: now.fields, isSaved: true, warnings: answer.warnings })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'precondition_failed') await load(rebase)
      else change({ isBusy: false, error })
    }
  }

  /** Puts the person's own changes over a version that someone else has saved. */
  const rebase = (theirs: Version): void =>
    setState((before) => {
      const mine = changedIn(before).map((path) => [path, before.draft[path] ?? ''] as const)
      const draft = { ...theirs.fields, ...Object.fromEntries(mine) }
      return { ...before, isBusy: false, stored: theirs, draft, was: before.stored?.fields }
    })

  const edit = (fields: Fields): void =>
    setState((before) => ({ ...before, draft: { ...before.draft, ...fields }, isSaved: false, error: undefined }))

  return {
    ...state,
    changed: changedIn(state),
    faults,
    set: (path, text) => edit({ [path]: text }),
    setAll: edit,
    discard: () => change({ draft: stored?.fields ?? {}, isTried: false, error: undefined, was: undefined }),
    save,
    reload,
  }
}

function changedIn({ stored, draft }: State): string[] {
  return stored === undefined ? [] : changedPaths(stored.fields, draft)
}

function isUnsaved(state: State): boolean {
  return changedIn(state).length > 0
}
