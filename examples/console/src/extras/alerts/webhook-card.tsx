import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ConflictDialog } from '../../form/conflict-dialog.tsx'
import { SaveBar } from '../../form/save-bar.tsx'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import { IssuedCredential } from '../../pages/credentials/issued-credential.tsx'
import { hrefOf } from '../../route.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Field } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/loaded.tsx'
import { Done, ErrorNotice } from '../../ui/notice.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { layerOf, layerPath, readWebhook, type WebhookChange, webhookFields } from './webhook-fields.ts'
import { WebhookQuestion } from './webhook-question.tsx'
import { useAlertsWords } from './words.ts'

/** Where alerts are sent. A secret is shown when it is made, and never again. */
export function WebhookCard({ onTested }: { onTested(): void }): JSX.Element {
  const words = useWords()
  const alerts = useAlertsWords()
  const names = useNames()
  const api = useApi()
  const layers = usePolicy().layers.map(({ name }) => name)
  const action = useAction()
  const [secret, setSecret] = useState<string>()
  const [done, setDone] = useState('')
  const [question, setQuestion] = useState<'rotate' | 'remove'>()
  const editor = useEditor(
    {
      href: hrefOf('alerts'),
      form: 'webhook',
      load: () => api.webhook(),
      async store(body: WebhookChange, etag) {
        setDone('')
        const { secret: made, ...stored } = await api.putWebhook(body, etag)
        if (made !== null) setSecret(made)
        return stored
      },
      toFields: (document) => webhookFields(layers, document),
      read: (fields) => readWebhook(layers, fields),
    },
    [api],
  )
  const { stored } = editor
  const nameOf = (path: string): string => {
    const layer = layerOf(path)
    return layer === undefined ? alerts.url : `${alerts.layers}: ${names.layer(layer)}`
  }
  const textOf = (path: string, text: string): string => {
    if (layerOf(path) !== undefined) return text === 'true' ? '✓' : words.settings.off
    return text === '' ? words.none : text
  }

  const act = async (what: string, work: () => Promise<void>): Promise<void> => {
    setDone('')
    if (await action.run(work)) setDone(what)
    setQuestion(undefined)
  }
  const rotate = (): Promise<void> =>
    act('', async () => {
      setSecret(await api.rotateWebhook())
      await editor.reload()
    })
  const remove = (): Promise<void> =>
    act(alerts.removed, async () => {
      await api.removeWebhook(stored?.etag ?? '')
      editor.discard()
      await editor.reload()
    })
  const test = (): Promise<void> =>
    act(alerts.tested, async () => {
      await api.testWebhook()
      onTested()
    })

  return (
    <section aria-labelledby="webhook">
      <h2 id="webhook">{alerts.where}</h2>
      {secret !== undefined && (
        <>
          <h3>{alerts.secretOnce}</h3>
          <IssuedCredential token={secret} onDone={() => setSecret(undefined)} />
        </>
      )}
      {stored === undefined ? (
        <>
          <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
          {editor.error === undefined && <Skeleton lines={8} />}
        </>
      ) : (
        <WebhookForm editor={editor} layers={layers} nameOf={nameOf}>
          {stored.fields.url !== '' && (
            <>
              <RotatedUntil etag={stored.etag} />
              <p class="buttons">
                <button type="button" disabled={action.isBusy} onClick={() => void test()}>
                  {alerts.test}
                </button>
                <button type="button" onClick={() => setQuestion('rotate')}>
                  {alerts.rotate}
                </button>
                <button type="button" class="danger" onClick={() => setQuestion('remove')}>
                  {alerts.remove}
                </button>
              </p>
            </>
          )}
        </WebhookForm>
      )}
      <ErrorNotice error={action.error} />
      <Done>{done}</Done>
      <ConflictDialog editor={editor} nameOf={nameOf} textOf={textOf} />
      {question !== undefined && (
        <WebhookQuestion
          of={question}
          isBusy={action.isBusy}
          onYes={question === 'rotate' ? rotate : remove}
          onNo={() => setQuestion(undefined)}
        />
      )}
    </section>
  )
}

interface FormProps {
  readonly editor: Editor
  readonly layers: readonly string[]
  nameOf(path: string): string
  readonly children: JSX.Element | false
}

function WebhookForm({ editor, layers, nameOf, children }: FormProps): JSX.Element {
  const words = useWords()
  const alerts = useAlertsWords()
  const names = useNames()
  const { draft, changed, faults, isTried } = editor
  const refused = editor.error?.details.find(({ path }) => path === 'url')?.msg
  const missing = isTried && faults.url !== undefined ? words.settings.faults[faults.url] : undefined
  return (
    <form
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        void editor.save()
      }}
    >
      <Field label={alerts.url} about={alerts.urlAbout} fault={missing ?? refused}>
        {(props) => (
          <input
            {...props}
            class={changed.includes('url') ? 'changed' : ''}
            inputMode="url"
            spellcheck={false}
            autocomplete="off"
            maxLength={2_048}
            value={draft.url}
            onInput={(event) => editor.set('url', event.currentTarget.value)}
          />
        )}
      </Field>
      <fieldset class="shadow">
        <legend>{alerts.layers}</legend>
        {layers.map((name) => (
          <Switch
            key={name}
            label={names.layer(name)}
            isOn={draft[layerPath(name)] === 'true'}
            onChange={(isOn) => editor.set(layerPath(name), String(isOn))}
          />
        ))}
      </fieldset>
      {/* A refused address is reported below its field. */}
      <SaveBar editor={refused === undefined ? editor : { ...editor, error: undefined }} nameOf={nameOf} />
      {children}
    </form>
  )
}

/** Until when the secret before signs as well; another version may have another one. */
function RotatedUntil({ etag }: { etag: string }): JSX.Element | null {
  const alerts = useAlertsWords()
  const formats = useFormats()
  const api = useApi()
  const { data } = useResource(() => api.webhook(), [api, etag])
  const until = data?.document.rotatedUntil ?? null
  return until === null ? null : <p class="quiet small">{alerts.rotated(formats.dateTime(until))}</p>
}
