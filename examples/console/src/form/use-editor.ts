import { useCallback, useEffect } from 'preact/hooks'
import type { Stored, Versioned } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { useDraft } from '../ui/use-draft.ts'
import type { Faults, Fields, Read } from './form.ts'
import { changedPaths } from './merge.ts'

/** A document with versions: how to load it, edit it as a form and store it. */
export interface Editable<T, B> {
  readonly href: string
  readonly form: string
  load(): Promise<Versioned<T>>
  store(body: B, etag: string): Promise<Stored<T>>
  toFields(document: T): Fields
  read(fields: Fields): Read<B>
}

export interface Version {
  readonly etag: string
  readonly fields: Fields
}

interface State {
  /** The version that editing began with. */
  readonly stored: Version | undefined
  readonly draft: Fields
  /** A version that someone else saved in between. */
  readonly theirs: Version | undefined
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
  /** Continues from their version, with these fields. */
  resolve(fields: Fields): void
  dismiss(): void
}

const NOTHING: State = {
  stored: undefined,
  draft: {},
  theirs: undefined,
  isBusy: false,
  isSaved: false,
  isTried: false,
  error: undefined,
  warnings: [],
}

/**
 * Edits a document that others may change at the same time. It never overwrites a version that was saved in between: it
 * loads that version and lets the person choose. Unsaved changes survive visits to other pages.
 */
export function useEditor<T, B>(of: Editable<T, B>, keys: readonly unknown[]): Editor {
  const [state, setState] = useDraft<State>(of.href, of.form, NOTHING, isUnsaved)
  const change = useCallback((change: Partial<State>) => setState((before) => ({ ...before, ...change })), [setState])

  const versionOf = ({ etag, document }: Versioned<T>): Version => ({
    etag,
    fields: of.toFields(document),
  })

  const reload = useCallback(async () => {
    change({ isBusy: true, error: undefined })
    await of.load().then(
      (loaded) => {
        const stored = versionOf(loaded)
        // A fast typist may have changed a field meanwhile.
        setState((before) =>
          isUnsaved(before) ? { ...before, isBusy: false } : { ...NOTHING, stored, draft: stored.fields },
        )
      },
      (error) => change({ isBusy: false, error: error as ApiError }),
    )
  }, keys)

  useEffect(() => {
    if (!isUnsaved(state)) void reload()
  }, [reload])

  const { stored, draft } = state
  const { body, faults } = of.read(draft)

  const save = async (): Promise<void> => {
    change({ isTried: true, isSaved: false, error: undefined, warnings: [] })
    if (stored === undefined || body === undefined) return
    change({ isBusy: true })
    try {
      const answer = await of.store(body, stored.etag)
      const now = versionOf(answer)
      setState({ ...NOTHING, stored: now, draft: now.fields, isSaved: true, warnings: answer.warnings })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code !== 'precondition_failed') change({ isBusy: false, error })
      else await fetchTheirs()
    }
  }

  const fetchTheirs = async (): Promise<void> => {
    await of.load().then(
      (loaded) => change({ isBusy: false, theirs: versionOf(loaded) }),
      (error) => change({ isBusy: false, error: error as ApiError }),
    )
  }

  const edit = (fields: Fields): void =>
    setState((before) => ({ ...before, draft: { ...before.draft, ...fields }, isSaved: false, error: undefined }))

  return {
    ...state,
    changed: changedIn(state),
    faults,
    set: (path, text) => edit({ [path]: text }),
    setAll: edit,
    discard: () => change({ draft: stored?.fields ?? {}, isTried: false, error: undefined }),
    save,
    reload,
    resolve: (fields) => change({ stored: state.theirs, draft: fields, theirs: undefined }),
    dismiss: () => change({ theirs: undefined }),
  }
}

function changedIn({ stored, draft }: State): string[] {
  return stored === undefined ? [] : changedPaths(stored.fields, draft)
}

function isUnsaved(state: State): boolean {
  return changedIn(state).length > 0
}
