import { useCallback, useEffect } from 'preact/hooks'
import type { Remark, Stored, Versioned } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { useDraft } from '../ui/use-draft.ts'
import type { Faults, Fields, Read } from './form.ts'
import { changedPaths } from './merge.ts'

/** A document with versions, and how it becomes a form and is stored. */
export interface Editable<T, B> {
  /** The address of the page that the form is on, and which of its forms it is. */
  readonly href: string
  readonly form: string
  load(): Promise<Versioned<T>>
  store(body: B, etag: string): Promise<Stored<T>>
  toFields(document: T): Fields
  read(fields: Fields): Read<B>
  /** What of the document is not in force, and why. @default nothing */
  notInForce?(document: T): readonly Remark[]
}

/** A version of the document, as a form has it. */
export interface Version {
  readonly etag: string
  readonly fields: Fields
  readonly notInForce: readonly Remark[]
}

interface State {
  /** What editing began with. */
  readonly stored: Version | undefined
  readonly draft: Fields
  /** Another person's version, which was saved in between. */
  readonly theirs: Version | undefined
  readonly isBusy: boolean
  readonly isSaved: boolean
  /** Saving was tried, so that missing values are now reported. */
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
  /** Goes on from their version, with these fields. */
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
 * Edits a document that others may change at the same time. A version that came in between is never overwritten: it is
 * fetched and shown, and the person chooses between them. Unsaved changes stay while other pages are
 * open.
 */
export function useEditor<T, B>(of: Editable<T, B>, keys: readonly unknown[]): Editor {
  const [state, setState] = useDraft<State>(of.href, of.form, NOTHING, isUnsaved)
  const change = useCallback((change: Partial<State>) => setState((before) => ({ ...before, ...change })), [setState])

  const versionOf = ({ etag, document }: Versioned<T>): Version => ({
    etag,
    fields: of.toFields(document),
    notInForce: of.notInForce?.(document) ?? [],
  })

  const reload = useCallback(async () => {
    change({ isBusy: true, error: undefined })
    await of.load().then(
      (loaded) => {
        const stored = versionOf(loaded)
        // A quick person has typed something meanwhile.
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
