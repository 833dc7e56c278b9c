import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Versioned } from '../../api/api.ts'
import { ApiError } from '../../api/api-error.ts'
import type { Settings } from '../../limits.ts'
import { useApi } from '../../session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { usePartTexts } from './part-text.ts'
import { type Part, patchOf, standingOf, valueAt } from './reversal.ts'
import { useHistoryWords } from './words.ts'

interface UndoProps {
  readonly parts: readonly Part[]
  onUndone(): void
  onClose(): void
}

/** Lets a person choose which parts to undo. Parts that haven't changed since are preselected. */
export function UndoDialog({ parts, onUndone, onClose }: UndoProps): JSX.Element {
  const words = useHistoryWords()
  const api = useApi()
  const settings = useResource(() => api.settings(), [api])
  const [isStale, setStale] = useState(false)

  const undo = async (chosen: readonly Part[], etag: string): Promise<void> => {
    try {
      await api.patchSettings(patchOf(chosen), etag)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error
      setStale(true)
      settings.reload()
      return
    }
    onUndone()
  }

  return (
    <Dialog title={words.undoTitle} isWide onClose={onClose}>
      <p>{words.undoAbout}</p>
      {isStale && (
        <p class="notice warning" role="alert">
          {words.changedMeanwhile}
        </p>
      )}
      <Loaded resource={settings} lines={4}>
        {(stored) => <Parts key={stored.etag} parts={parts} stored={stored} undo={undo} onClose={onClose} />}
      </Loaded>
    </Dialog>
  )
}

interface PartsProps {
  readonly parts: readonly Part[]
  readonly stored: Versioned<Settings>
  undo(chosen: readonly Part[], etag: string): Promise<void>
  onClose(): void
}

function Parts({ parts, stored: { etag, document }, undo, onClose }: PartsProps): JSX.Element {
  const words = useWords()
  const history = useHistoryWords()
  const texts = usePartTexts()
  const { isBusy, error, run } = useAction()
  const open = parts.filter((part) => standingOf(part, document) === 'open').map(({ path }) => path)
  const [chosen, setChosen] = useState<readonly string[]>(open)
  const isLeft = parts.some((part) => standingOf(part, document) !== 'done')
  const choose = (path: string, isChosen: boolean): void =>
    setChosen((before) => (isChosen ? [...before, path] : before.filter((each) => each !== path)))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run(() =>
          undo(
            parts.filter(({ path }) => chosen.includes(path)),
            etag,
          ),
        )
      }}
    >
      <ul class="entries">
        {parts.map((part) => {
          const standing = standingOf(part, document)
          return (
            <li key={part.path}>
              <label class="switch">
                <input
                  type="checkbox"
                  disabled={standing === 'done'}
                  checked={chosen.includes(part.path)}
                  onChange={(event) => choose(part.path, event.currentTarget.checked)}
                />
                <span>
                  {texts.name(part)}
                  {words.colon}
                  <del>{texts.value(part, valueAt(part, document))}</del> → <ins>{texts.value(part, part.before)}</ins>{' '}
                  {standing !== 'open' && <span class="tag">{history[standing]}</span>}
                </span>
              </label>
            </li>
          )
        })}
      </ul>
      {!isLeft && <p>{history.nothingLeft}</p>}
      <ErrorNotice error={error} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={isBusy || chosen.length === 0}>
          {history.undoSubmit}
        </button>
        <button type="button" onClick={onClose}>
          {words.cancel}
        </button>
      </p>
    </form>
  )
}
