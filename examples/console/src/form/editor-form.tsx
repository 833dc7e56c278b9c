import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Confirm } from '../ui/confirm.tsx'
import { Skeleton } from '../ui/loaded.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { Scroll } from '../ui/table.tsx'
import { useWords } from '../words/words.ts'
import { type Change, ChangeList, changesOf, type FieldTexts } from './changes.tsx'
import type { Editor } from './use-editor.ts'

interface EditorFormProps {
  readonly editor: Editor
  /** Lines kept free until the document is loaded. */
  readonly lines: number
  readonly texts: FieldTexts
  /** Adds consequences to changes. Changes with a warning are saved after a confirmation only. */
  warn?(changes: readonly Change[]): readonly Change[]
  /** More buttons next to Save. */
  readonly buttons?: ComponentChildren
  readonly children: ComponentChildren
}

/** The fields of a document, and the bar that sums up every change before it saves them. */
export function EditorForm(props: EditorFormProps): JSX.Element {
  const { editor, lines, texts, warn = (changes) => changes, buttons, children } = props
  const words = useWords()
  const [isAsking, setAsking] = useState(false)
  const { stored, draft, faults, changed } = editor
  if (stored === undefined) {
    return (
      <>
        <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
        {editor.error === undefined && <Skeleton lines={lines} />}
      </>
    )
  }
  const changes = warn(changesOf(stored.fields, draft, texts))
  const severe = changes.filter(({ warning }) => warning !== undefined)
  return (
    <>
      <form
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault()
          if (severe.length > 0 && Object.keys(faults).length === 0) setAsking(true)
          else if (changed.length > 0) void editor.save()
        }}
      >
        {children}
        <SaveBar editor={editor} texts={texts} changes={changes}>
          {buttons}
        </SaveBar>
      </form>
      {isAsking && (
        <Confirm
          title={words.question.title}
          about={words.question.about}
          yes={words.save}
          act={() => void editor.save()}
          onClose={() => setAsking(false)}
        >
          <ChangeList changes={changes} />
        </Confirm>
      )}
    </>
  )
}

interface SaveBarProps {
  readonly editor: Editor
  readonly texts: FieldTexts
  readonly changes: readonly Change[]
  readonly children?: ComponentChildren
}

/** Sums up unsaved changes and reports the result of saving. The buttons are shown while there is something to save. */
function SaveBar({ editor, texts, changes, children }: SaveBarProps): JSX.Element {
  const words = useWords()
  const id = useId()
  const { faults, isBusy, isSaved, isTried, error, warnings, was, stored } = editor
  const isChanged = changes.length > 0
  // It stays in view after saving, so that nothing scrolls to the result.
  const isNeeded = isChanged || isSaved || error !== undefined || warnings.length > 0
  const status = useFocusWhenGone(isChanged)
  return (
    <div class={isNeeded ? 'save-bar' : 'save-bar idle'}>
      <ErrorNotice error={error} />
      {isTried && Object.keys(faults).length > 0 && (
        <p class="notice bad" role="alert">
          {words.faults}
        </p>
      )}
      {was !== undefined && (
        <div class="notice warning" role="alert">
          <p>{words.savedFirst}</p>
          <ChangeList changes={changesOf(was, stored?.fields ?? {}, texts)} />
        </div>
      )}
      {warnings.length > 0 && (
        <div class="notice warning" role="alert">
          <p>{words.warnings}</p>
          <ul>
            {warnings.map(({ path, msg }) => (
              <li key={path}>
                {texts.nameOf(path)}: {msg}
              </li>
            ))}
          </ul>
        </div>
      )}
      {isChanged && (
        <Scroll label={words.changes(changes.length)} size="small">
          <ChangeList id={id} changes={changes} />
        </Scroll>
      )}
      <div class="buttons">
        {isChanged && (
          <>
            <button type="submit" class="primary" disabled={isBusy} aria-describedby={id}>
              {isBusy ? words.saving : words.save}
            </button>
            <button type="button" disabled={isBusy} onClick={editor.discard}>
              {words.discard}
            </button>
          </>
        )}
        {children}
        <span role="status" class="quiet" tabIndex={-1} ref={status}>
          {isChanged ? words.changes(changes.length) : isSaved && words.saved}
        </span>
      </div>
    </div>
  )
}

/** When the buttons disappear with the focus, moves it to what replaces them. */
function useFocusWhenGone(hasButtons: boolean): { current: HTMLElement | null } {
  const left = useRef<HTMLElement>(null)
  const had = useRef(hasButtons)
  useLayoutEffect(() => {
    if (had.current && !hasButtons && document.activeElement === document.body)
      left.current?.focus({ preventScroll: true })
    had.current = hasButtons
  }, [hasButtons])
  return left
}
