// @ts-check

/**
 * Paragraphs of the services' documents in Chinese, by what they are in English: of operations, parameters, tags and
 * credentials. A test knows of each that is missing.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const PARAGRAPHS_ZH = {
  'Free.': '免费。',

  // Services, and what they are called with.
  '**Credential.** `Authorization: Bearer` with a JWT or a gateway token, which begins with `gw_`. Credentials of the other services do not work here.':
    '**凭据。** `Authorization: Bearer` 加 JWT 或以 `gw_` 开头的网关令牌。其他服务的凭据在此无效。',
  '**Quota.** An operation costs tokens of its category, `read` or `write`; one request has one price, whatever the length of its list. Too few tokens left: 429 with `Retry-After`. Wait as long as it says; do not poll. A request that fails costs nothing. `GET /me/quota` is free.':
    '**配额。** 每个操作消耗所属类别（`read` 读取或 `write` 写入）的额度点；一次请求一个价格，与列表长度无关。额度不足时返回 429 和 `Retry-After`，请等待其所示时间，不要循环重试。失败的请求不消耗额度。`GET /me/quota` 免费。',
  '**Order of checks.** Credential (401, 403), path and method (404, 405), body (413, 415, 400), content (422), quota (429), then the work. Unknown members of a body are ignored, unless its schema says otherwise.':
    '**检查顺序。** 凭据（401、403），路径和方法（404、405），正文（413、415、400），内容（422），配额（429），然后执行。正文中未列出的成员会被忽略，除非其结构另有规定。',
  "Bots bring players' scores here, for any player by `qq`. An account of the gateway that is linked to that `qq` has them at once; for others they are kept until an account is linked.":
    '机器人把玩家的成绩送到这里，玩家以 `qq` 区分。已关联该 `qq` 的网关账户立即可见；否则保留到有账户关联为止。',
  '**Credential.** `Bot-Token`. Credentials of the other services do not work here.':
    '**凭据。** `Bot-Token`。其他服务的凭据在此无效。',
  '**Chunks.** A full snapshot comes in chunks under one `snapshot_id`, the last of them with `snapshot_final`. Send a chunk again, identical, after 429, 500, 502 to 504 or no answer: it is stored once.':
    '**分块。** 完整快照以同一 `snapshot_id` 分块送来，最后一块带 `snapshot_final`。遇到 429、500、502 至 504 或没有应答时，原样重发该块：只会保存一次。',
  'The table of charts, for browsing: titles, difficulties and note counts.': '可供查看的谱面列表：曲名、难度和物量。',
  '**Credential.** `X-API-Key` with a key of this service, which begins with `mk_`. Credentials of the other services do not work here.':
    '**凭据。** `X-API-Key` 加本服务以 `mk_` 开头的密钥。其他服务的凭据在此无效。',
  'A JWT, or a gateway token: it begins with `gw_`.': 'JWT，或以 `gw_` 开头的网关令牌。',
  'A token that administrators issue.': '由管理员签发的令牌。',
  'A key of this service: it begins with `mk_`.': '本服务的密钥，以 `mk_` 开头。',

  // What operations are about.
  'A score belongs to a chart, `musicId` and `level`. Write, delete and read scores.':
    '成绩属于谱面（`musicId` 和 `level`）。写入、删除和读取成绩。',
  "A player's own data, items and gates.": '玩家自己的数据、物品和门。',
  'Buy, list and clear tickets. The balance is in credits.': '购买、列出和清空功能票。余额以功能票点数计。',
  'Bring scores here from other score services.': '从其他查分服务导入成绩。',
  'Used and remaining tokens of the caller. Free.': '调用者已用和剩余的额度点。免费。',
  'Whether the service is there. Free, and open to everybody.': '服务是否在运行。免费，对所有人开放。',
  'This document.': '本文档。',
  "For users with the administrator's role.": '供具有管理员角色的用户使用。',
  "Bots that bring players' scores.": '送来玩家成绩的机器人。',
  'The table of charts.': '谱面列表。',

  // Parameters.
  '`1`: answer when it is done.': '`1`：完成后才应答。',
  'Names this attempt. A repeat with the same key gets the same answer, and nothing is done twice.':
    '标识本次尝试。以同一键重复请求会得到同一应答，不会重复执行。',
  'The `ETag` of the document that was read; `*` for any. The version alone, `"7"`, is any document of it.':
    '所读文档的 `ETag`；`*` 表示任意。仅写版本号（如 `"7"`）表示该版本的任意文档。',
  "The user's id.": '用户 ID。',
  "A user's id.": '用户 ID。',
  'The layer, one of those that each user has. Default: `personal`.':
    '哪一层的配额（每个用户各有一份的层）。省略时为 `personal`。',
  'As in the list.': '与列表中一致。',
  'Part of an id or a name, in any case.': 'ID 或名称的一部分，不区分大小写。',
  '`nextCursor` of the previous page.': '上一页的 `nextCursor`。',
  'The largest number of entries on the page.': '每页最多条数。',
  '`*`: creates a new document, and never changes an existing one.': '`*`：仅在不存在时创建，不做更改。',
  "The token's id, not the token.": '令牌的 ID，不是令牌本身。',
  "The credential's id, not the credential.": '凭据的 ID，不是凭据本身。',
  'Only entries of this kind.': '仅限此类条目。',
  'how far back': '回溯多久',
  'how many days back': '回溯的天数',
  'length of a bucket': '每格的长度',
  'The largest number of requests on the page.': '每页最多请求数。',
  'How many days, today among them.': '天数，包括今天。',
  'The largest number of alerts on the page.': '每页最多告警数。',
  'How many days in Beijing, today among them.': '天数（北京时间），包括今天。',
  'from 1 on': '从 1 开始',
  'charts a page': '每页谱面数',
  '`songId:kind:difficulty`, for example `101:standard:4`; difficulty 1 to 6':
    '`songId:kind:difficulty`，例如 `101:standard:4`；难度 1 至 6',

  // Operations of players.
  'For clients, in the form of their other answers.': '供客户端使用，形式与其他应答相同。',
  'For process supervisors. It contacts no store.': '供重启进程者使用，不询问存储。',
  'For load balancers: 503 while a store does not answer, and while the service is stopping.':
    '供负载均衡使用：存储不应答或服务正在停止时返回 503。',
  'Writes 1 to 20 scores over existing ones, all of them or none. A chart must not be in the list twice. With `sessionId` they are kept for an upload in parts: their tokens are held, and charged only by `/v1/upsert/check`.':
    '写入 1 至 20 条成绩，覆盖已有的，全部成功或全部不写。同一谱面不得出现两次。带 `sessionId` 时为分批上传保留：额度点先预留，仅由 `/v1/upsert/check` 扣除。',
  'Deletes the scores of 1 to 20 charts; one chart may be given without the list.':
    '删除 1 至 20 张谱面的成绩；仅一张时可不用列表。',
  "All of the caller's scores, with what their charts add. It writes nothing.":
    '调用者的全部成绩，附谱面信息。不写入任何内容。',
  "Deletes all of the caller's scores for good.": '调用者的全部成绩，不可恢复。',
  'Send the scores to `/v1/music/upsert` with its `sessionId`, 2,000 at most, and then call `/v1/upsert/check`. A session ends after 10 minutes without a call; one that ends costs nothing and stores nothing. A user may have 5 of them open.':
    '以其 `sessionId` 将成绩（最多 2,000 条）送到 `/v1/music/upsert`，然后请求 `/v1/upsert/check`。10 分钟没有调用会话即结束，不消耗额度，也不保存。每个用户最多同时有 5 个会话。',
  'If all scores have arrived they are stored, all or nothing, and charged once: the price of one upsert for each 20 scores or part of them. A repeat gets the same answer. A session that is over is 409 `session_expired` at once, with and without `sync=1`.':
    '全部到齐后一次保存（全部或全不），并扣除一次：每满或不满 20 条成绩按一次写入计价。可重复发送，应答相同。会话已结束时立即返回 409 `session_expired`，无论是否带 `sync=1`。',
  'Name, rating and how often the player played.': '名称、Rating 和游玩次数。',
  'Name, rating, and when the player played last.': '名称、Rating 和最近一次游玩时间。',
  'Regions are unknown here: the list is empty.': '此处没有记录：列表为空。',
  'The kinds 2, 3 and 5 cost 1, 2 and 3 credits of the balance, and each its own tokens. A ticket is valid for 90 days.':
    '种类 2、3、5 分别消耗余额 1、2、3 点，并各有额度点价格。功能票有效期 90 天。',
  'The tickets that are still valid, with the number of each.': '仍然有效的功能票及各自数量。',
  'Removes all of them; credits are not refunded.': '全部收回；余额不退还。',
  'Always empty: a purchase is complete when it is answered.': '没有：应答时购买即已完成。',
  'Kinds: 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key.':
    '种类：1 姓名框，2 称号，3 头像，4 礼物，5 至 8 乐曲解锁，9 角色，10 搭档，11 背景框，12 功能票，15 钥匙。',
  "The player's progress with each gate.": '玩家在每个门的进度。',
  "Reads the player's scores from LXNS and keeps the best of each field. A request is also charged when the source refuses the player's credential.":
    '向落雪请求玩家的成绩，各项保留最好成绩。若对方拒绝玩家的凭据，因已发出请求，价格不退还。',
  "Reads the player's scores from Diving-Fish and keeps the best of each field. A request is also charged when the source refuses the player's credential.":
    '向水鱼请求玩家的成绩，各项保留最好成绩。若对方拒绝玩家的凭据，因已发出请求，价格不退还。',
  'Used and remaining tokens of the caller, window by window.': '调用者在每个窗口已用和剩余的额度点。',
  'The same as `/me/quota`, for older clients.': '与 `/me/quota` 相同，供旧客户端使用。',
  'Metered requests of the last 30 days, 1,000 at most: when, what, how it ended, what it was charged, and which limit refused it. Follow `nextCursor` until it is `null`.':
    '最近 30 天计量的请求，最多 1,000 个：时间、操作、结果、扣除的额度，以及被哪个配额拒绝。沿 `nextCursor` 读取，直到为 `null`。',
  'Metered requests, tokens and failures of each day in Beijing; days without requests have zeros.':
    '每天（北京时间）计量的请求、额度点和失败数；没有请求的日子为零。',
  'One point for each day in Beijing with a sync. Without any the list is empty.':
    '每个有同步的日子（北京时间）一个点；没有则列表为空。',

  // Operations of administrators.
  'The windows, categories, layers and operations that settings, overrides and statuses are made of.':
    '构成设置、单独配额和状态的窗口、类别、层和操作。',
  'Mode, base values, shared layers, prices, limits that are not enforced, plans and thresholds. Send the `ETag` as `If-Match` of a change.':
    '模式、基准值、共享层、价格、不强制的配额、套餐和阈值。更改时把 `ETag` 放入 `If-Match`。',
  'Takes the whole document, without `version`, or refuses it, naming every fault. It is in force at once.':
    '接受整个文档（不含 `version`），否则整体拒绝并指出每个错误。立即生效。',
  'A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`: named members are changed, `null` removes, lists are replaced. The result is validated as a whole document.':
    'JSON 合并补丁（RFC 7396），类型为 `application/merge-patch+json` 或 `application/json`：更改所列成员，`null` 移除，列表整体替换。结果按完整文档检查。',
  'Absent members follow the default again. `If-Match` is optional.': '未列出的恢复默认。`If-Match` 可省略。',
  'The user follows the default again, in everything.': '用户的一切恢复默认。',
  'What the user sees at `/me/quota`, the name of each layer, and the limits that are not enforced.':
    '用户在 `/me/quota` 所见，加上各层名称和不强制的配额。',
  "Closes the user's windows: of one category or all, of the user's own layers or of the named one. The windows of a shared layer are those of all users.":
    '关闭用户的窗口：一个或全部类别，用户自己的层或指定的层。共享层的窗口属于所有人。',
  'Tokens and slots of requests in progress, the earliest end first.':
    '进行中的工作占用的额度点和名额，最早结束的在前。',
  'Its tokens go back and its slot is freed at once; the work itself is not stopped.':
    '额度点立即退还、名额立即释放；工作本身不会停止。',
  'Page by page: `nextCursor` of one is the `cursor` of the next.':
    '逐页读取：上一页的 `nextCursor` 即下一页的 `cursor`。',
  'Tokens, scores, tickets, credits, records of usage, overrides and open holds are gone for good. What was charged to shared limits stays charged, and the audit trail stays. A valid JWT makes a new user of the id: disable a user to keep somebody out. `If-Match` is optional.':
    '令牌、成绩、功能票、余额、用量记录、单独配额和未结算的预留都会被永久删除。已计入共享配额的用量不变，审计记录保留。有效的 JWT 会以此 ID 创建新用户：如需禁止使用，请停用用户。`If-Match` 可选。',
  'The `ETag` covers what administrators set: `name`, `role`, `disabled` and `qq`. Send it as `If-Match` of a change.':
    '`ETag` 对应管理员设定的 `name`、`role`、`disabled` 和 `qq`。更改时放入 `If-Match`。',
  'Absent members stay as they are. 201: the user is new. `If-Match` is optional; `If-None-Match: *` creates and never changes.':
    '省略的保持不变。201 表示新建用户。`If-Match` 可省略；`If-None-Match: *` 只创建、不更改。',
  'Either `add`, which may be negative, or `set`; with `from` it is set only if the balance still is `from`.':
    '`add`（可为负）或 `set`；带 `from` 时仅在余额仍为该值时设定。',
  'Ids and labels. A token itself is shown only once, when it is issued.': 'ID 和标签。令牌本身仅在签发时显示一次。',
  'Creates the user if there is none.': '用户不存在时会创建。',
  'It stops working at once.': '立即失效。',
  'Ids and names. A credential itself is shown only once, when it is issued.':
    'ID 和名称。凭据本身仅在签发时显示一次。',
  'Only its hash is stored: a lost one cannot be recovered.': '只保存其散列：丢失后无法找回。',
  'Follow `nextCursor` until it is `null`. No page repeats or lacks an entry while others are written.':
    '沿 `nextCursor` 读取，直到为 `null`。期间有新条目写入时，各页既不重复也不遗漏。',
  'Names of the parts beyond the specification, as `EXTRAS` takes them.':
    '规范之外的部分的名称，与 `EXTRAS` 的取值相同。',
  'Forgets the wall, which rises are to blame, and how slowly errors pass. Factor and history stay, and the factor rises freely. Works in every mode.':
    '清除“墙”、被归咎的上升以及错误消退的快慢。系数与历史保持不变，此后系数可自由上升。任何模式下均可使用。',
  'It follows the server internal errors of the last 30 minutes, between 0.75 and 1.5.':
    '随最近 30 分钟的服务器内部错误变动，介于 0.75 与 1.5 之间。',
  'Buckets are aligned to the half hour (UTC); those without calls are included, with zeros.':
    '每格按半小时（UTC）对齐；没有调用的格也列出，值为零。',
  'Requests and their outcomes, refusals, the rest of shared limits, and the users who spend and are refused most. Each member says whether it covers one process or all.':
    '请求及其结果、拒绝、共享配额的余量、用量最多和被拒绝最多的用户。每一项都注明属于单个进程还是所有进程。',
  'Server-sent events `overview`, whose data is the JSON of `/admin/overview`: at once, and then each second. The stream ends after a minute, when the credential is revoked, and when the service stops; reconnect with the credential.':
    '服务器推送事件 `overview`，数据即 `/admin/overview` 的 JSON：立即一次，之后每秒一次。一分钟后、凭据被撤销或服务停止时结束；再次请求须再次出示凭据。',
  'Of all processes, in steps of 10 minutes or of an hour; those without requests are included.':
    '所有进程合计，每格 10 分钟或一小时；没有请求的格也列出。',
  'Refusals of the last hour, of all processes, grouped by user, operation and limit, the newest first. At most the newest 1,000 refusals are counted.':
    '最近一小时内所有进程的拒绝，按用户、操作和配额分组，最新的在前。最多统计最近 1,000 次拒绝。',
  "What a request would be answered now, which limit binds, and until when; the user's last refusals; and the last days decided again under a proposal. Changes nothing.":
    '请求现在会得到什么答复、受哪个配额限制、到何时；用户最近的拒绝；以及最近几天在假设下重新判定的结果。不做任何更改。',
  'The newest first. Follow `nextCursor` until it is `null`.': '最新的在前。沿 `nextCursor` 读取，直到为 `null`。',
  'The secret is never shown.': '从不显示密钥。',
  'The first time creates a secret, which is shown only this once. Thresholds of the layers named here raise alerts. `If-Match` is optional.':
    '首次会生成密钥并只显示这一次。对所列的层通知阈值。`If-Match` 可省略。',
  'Alerts are kept for reading. Waiting ones are no longer sent.': '告警仍保留供查看，等待发送的不再发送。',
  'For a day messages are signed with both secrets.': '一天之内消息同时用新旧密钥签名。',
  'A message `webhook.test`, which is sent and retried like any other, and appears in the list.':
    '一条 `webhook.test` 消息，与其他消息一样发送和重试：请在列表中查看。',
  'In the text format of Prometheus.': 'Prometheus 文本格式。',
  'OpenAPI 3.1, for reference pages and for generators of clients.': 'OpenAPI 3.1，供参考页面和客户端生成器使用。',
}
