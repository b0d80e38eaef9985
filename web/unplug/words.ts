/** The words of the two windows and their plug, in the languages of the page. */
export interface UnplugWords {
  readonly title: string
  readonly intro: string
  readonly begin: string
  readonly names: readonly [string, string]
  readonly plug: string
  readonly bothIn: string
  readonly out: (name: string) => string
  readonly pluggedIn: string
  readonly unplugged: string
  readonly answers: string
  readonly waitsFor: (name: string) => string
  readonly message: string
  readonly send: string
  readonly waiting: (count: string) => string
  /** Another window's reply stands in place of this one's. */
  readonly replaced: string
  readonly hash: string
  readonly same: string
  readonly different: string
  readonly empty: string
  /** What the script answers. */
  readonly script: (count: string) => string
  readonly failed: string
  readonly erase: string
  /** Erasing failed, and can be tried again. */
  readonly notErased: string
  readonly erased: string
  readonly note: string
}

const en: UnplugWords = {
  title: 'Unplug it: two windows, one conversation, one hash',
  intro:
    'Each window is a device of its own, whose log is in this page. Both follow one conversation at the service. Drag the plug to one window to cut the other one off, write in both, and plug in again.',
  begin: 'Begin with a new guest',
  names: ['Laptop', 'Phone'],
  plug: 'Plug',
  bothIn: 'Both are plugged in.',
  out: (name) => `The ${name} is unplugged.`,
  pluggedIn: 'Plugged in.',
  unplugged: 'Unplugged: what is written stays in this window, and is answered once it is plugged in.',
  answers: 'It answers.',
  waitsFor: (name) => `It waits for ${name}.`,
  message: 'Message',
  send: 'Send',
  waiting: (count) => `Messages not yet at the service: ${count}`,
  replaced:
    'The other window answered first. Its reply is shown here; the one that this window wrote is gone.',
  hash: 'Hash of the next request:',
  same: 'Both hold the same.',
  different: 'They hold different things.',
  empty: 'Nothing was said yet.',
  script: (count) => `This is a script, not a model. Messages that it was shown: ${count}.`,
  failed: 'The service could not be reached, or accepts no guests.',
  erase: 'End, and erase it at the service',
  notErased: 'Not erased: the service could not be reached. Nothing has ended; try again.',
  erased: 'Erased: in both windows, and at the service.',
  note: 'Each window makes the hash from its own log: SHA-256 over what a model would be given next. The conversation belongs to a guest of its own, who is not you, and whom the service erases after 30 days if you do not end it here.',
}

const de: UnplugWords = {
  title: 'Stecker ziehen: zwei Fenster, eine Unterhaltung, ein Hash',
  intro:
    'Jedes Fenster ist ein eigenes Gerät, dessen Protokoll in dieser Seite liegt. Beide folgen einer Unterhaltung beim Dienst. Ziehen Sie den Stecker zu einem Fenster, um das andere abzutrennen, schreiben Sie in beide und stecken Sie ihn wieder ein.',
  begin: 'Mit einem neuen Gast beginnen',
  names: ['Laptop', 'Handy'],
  plug: 'Stecker',
  bothIn: 'Beide sind verbunden.',
  out: (name) => `Abgetrennt: ${name}.`,
  pluggedIn: 'Verbunden.',
  unplugged:
    'Abgetrennt: Was geschrieben wird, bleibt in diesem Fenster und wird beantwortet, sobald es verbunden ist.',
  answers: 'Es antwortet.',
  waitsFor: (name) => `Es wartet auf: ${name}.`,
  message: 'Nachricht',
  send: 'Senden',
  waiting: (count) => `Nachrichten noch nicht beim Dienst: ${count}`,
  replaced:
    'Das andere Fenster hat zuerst geantwortet. Seine Antwort steht hier; die dieses Fensters ist weg.',
  hash: 'Hash der nächsten Anfrage:',
  same: 'Beide halten dasselbe.',
  different: 'Sie halten Verschiedenes.',
  empty: 'Noch wurde nichts gesagt.',
  script: (count) => `Das ist ein Skript und kein Modell. Nachrichten, die es bekam: ${count}.`,
  failed: 'Der Dienst war nicht erreichbar oder lässt keine Gäste ein.',
  erase: 'Beenden und beim Dienst löschen',
  notErased:
    'Nicht gelöscht: Der Dienst war nicht erreichbar. Nichts ist beendet; versuchen Sie es noch einmal.',
  erased: 'Gelöscht: in beiden Fenstern und beim Dienst.',
  note: 'Jedes Fenster bildet den Hash aus seinem eigenen Protokoll: SHA-256 über das, was ein Modell als Nächstes bekäme. Die Unterhaltung gehört einem eigenen Gast, der nicht Sie sind und den der Dienst nach 30 Tagen löscht, wenn Sie hier nicht beenden.',
}

const fr: UnplugWords = {
  title: 'Débranchez : deux fenêtres, une conversation, un hachage',
  intro:
    'Chaque fenêtre est un appareil à part, dont le journal est dans cette page. Les deux suivent une conversation chez le service. Tirez la prise vers une fenêtre pour couper l’autre, écrivez dans les deux, puis rebranchez.',
  begin: 'Commencer avec un nouvel invité',
  names: ['Portable', 'Téléphone'],
  plug: 'Prise',
  bothIn: 'Les deux sont branchés.',
  out: (name) => `Débranché : ${name}.`,
  pluggedIn: 'Branché.',
  unplugged:
    'Débranché : ce qui est écrit reste dans cette fenêtre, et reçoit une réponse une fois rebranché.',
  answers: 'Il répond.',
  waitsFor: (name) => `Il attend : ${name}.`,
  message: 'Message',
  send: 'Envoyer',
  waiting: (count) => `Messages pas encore chez le service : ${count}`,
  replaced:
    'L’autre fenêtre a répondu la première. Sa réponse est ici ; celle que cette fenêtre a écrite n’est plus là.',
  hash: 'Hachage de la prochaine requête :',
  same: 'Les deux ont la même chose.',
  different: 'Ils ont des choses différentes.',
  empty: 'Rien n’a encore été dit.',
  script: (count) => `Ceci est un script et non un modèle. Messages qu’il a reçus : ${count}.`,
  failed: 'Le service est injoignable, ou n’admet pas d’invités.',
  erase: 'Terminer, et tout effacer chez le service',
  notErased: 'Pas effacé : le service est injoignable. Rien n’est terminé ; réessayez.',
  erased: 'Effacé : dans les deux fenêtres et chez le service.',
  note: 'Chaque fenêtre calcule le hachage depuis son propre journal : SHA-256 de ce qu’un modèle recevrait ensuite. La conversation appartient à un invité à part, qui n’est pas vous, et que le service efface après 30 jours si vous ne terminez pas ici.',
}

const es: UnplugWords = {
  title: 'Desenchufar: dos ventanas, una conversación, un hash',
  intro:
    'Cada ventana es un dispositivo propio, cuyo registro está en esta página. Las dos siguen una conversación en el servicio. Arrastre el enchufe hacia una ventana para cortar la otra, escriba en las dos y vuelva a enchufar.',
  begin: 'Empezar con un invitado nuevo',
  names: ['Portátil', 'Teléfono'],
  plug: 'Enchufe',
  bothIn: 'Los dos están enchufados.',
  out: (name) => `Desenchufado: ${name}.`,
  pluggedIn: 'Enchufado.',
  unplugged:
    'Desenchufado: lo que se escribe se queda en esta ventana y se responde cuando se vuelve a enchufar.',
  answers: 'Responde.',
  waitsFor: (name) => `Espera a: ${name}.`,
  message: 'Mensaje',
  send: 'Enviar',
  waiting: (count) => `Mensajes aún no en el servicio: ${count}`,
  replaced:
    'La otra ventana respondió primero. Aquí está su respuesta; la que escribió esta ventana ya no está.',
  hash: 'Hash de la próxima petición:',
  same: 'Los dos tienen lo mismo.',
  different: 'Tienen cosas distintas.',
  empty: 'Aún no se ha dicho nada.',
  script: (count) => `Esto es un guion y no un modelo. Mensajes que recibió: ${count}.`,
  failed: 'No se pudo llegar al servicio, o no admite invitados.',
  erase: 'Terminar y borrarlo en el servicio',
  notErased: 'No se ha borrado: no se pudo llegar al servicio. Nada ha terminado; inténtelo de nuevo.',
  erased: 'Borrado: en las dos ventanas y en el servicio.',
  note: 'Cada ventana calcula el hash desde su propio registro: SHA-256 de lo que recibiría un modelo a continuación. La conversación pertenece a un invitado aparte, que no es usted, y al que el servicio borra a los 30 días si no la termina aquí.',
}

const ar: UnplugWords = {
  title: 'افصل القابس: نافذتان ومحادثة واحدة وبصمة واحدة',
  intro:
    'كل نافذة جهاز مستقل سجله في هذه الصفحة، وكلتاهما تتبع محادثة واحدة لدى الخدمة. اسحب القابس إلى نافذة لتقطع الأخرى، واكتب في الاثنتين، ثم أعد القابس.',
  begin: 'البدء بضيف جديد',
  names: ['الحاسوب', 'الهاتف'],
  plug: 'القابس',
  bothIn: 'كلاهما متصل.',
  out: (name) => `مفصول: ${name}.`,
  pluggedIn: 'متصل.',
  unplugged: 'مفصول: ما يُكتب يبقى في هذه النافذة، ويُجاب عنه بعد إعادة القابس.',
  answers: 'يجيب الآن.',
  waitsFor: (name) => `ينتظر: ${name}.`,
  message: 'رسالة',
  send: 'إرسال',
  waiting: (count) => `رسائل لم تصل إلى الخدمة بعد: ${count}`,
  replaced: 'أجابت النافذة الأخرى أولًا. يظهر هنا ردها، أما الرد الذي كتبته هذه النافذة فلم يعد موجودًا.',
  hash: 'بصمة الطلب التالي:',
  same: 'كلاهما يحمل الشيء نفسه.',
  different: 'ما يحملانه مختلف.',
  empty: 'لم يُقل شيء بعد.',
  script: (count) => `هذا نص مُعدّ وليس نموذجًا. عدد الرسائل التي عُرضت عليه: ${count}.`,
  failed: 'تعذّر الوصول إلى الخدمة، أو أنها لا تقبل ضيوفًا.',
  erase: 'إنهاء ومحوها لدى الخدمة',
  notErased: 'لم تُمحَ: تعذّر الوصول إلى الخدمة. لم ينتهِ شيء، فحاول مرة أخرى.',
  erased: 'مُحيت من النافذتين ولدى الخدمة.',
  note: 'تحسب كل نافذة البصمة من سجلها: SHA-256 لما كان النموذج سيتلقاه بعد ذلك. المحادثة لضيف مستقل ليس أنت، تمحوه الخدمة بعد 30 يومًا إن لم تُنهها هنا.',
}

const ja: UnplugWords = {
  title: 'プラグを抜く：二つの窓、一つの会話、一つのハッシュ',
  intro:
    'それぞれの窓は別々の端末で、そのログはこのページの中にあります。どちらもサービスにある一つの会話に従います。プラグを片方の窓に動かすともう片方が切れます。両方に書いて、また差し込んでください。',
  begin: '新しいゲストで始める',
  names: ['ノートパソコン', 'スマートフォン'],
  plug: 'プラグ',
  bothIn: '両方つながっています。',
  out: (name) => `${name}は切れています。`,
  pluggedIn: 'つながっています。',
  unplugged: '切れています。書いたものはこの窓に残り、つなぐと返事が来ます。',
  answers: '答えています。',
  waitsFor: (name) => `${name}を待っています。`,
  message: 'メッセージ',
  send: '送信',
  waiting: (count) => `サービスにまだないメッセージ：${count}`,
  replaced:
    'もう一方のウィンドウが先に答えました。ここにはその返事が表示され、このウィンドウが書いた返事は残っていません。',
  hash: '次のリクエストのハッシュ：',
  same: '両方が同じものを持っています。',
  different: '持っているものが違います。',
  empty: 'まだ何も話されていません。',
  script: (count) => `これは台本で、モデルではありません。渡されたメッセージ：${count} 件。`,
  failed: 'サービスに届かないか、ゲストを受け入れていません。',
  erase: '終えて、サービスから消去する',
  notErased: '消去できませんでした。サービスに届きません。会話は終わっていません。もう一度試してください。',
  erased: '両方の窓とサービスから消去しました。',
  note: '各窓は自分のログからハッシュを計算します。モデルが次に受け取る内容の SHA-256 です。会話はあなたではない別のゲストのもので、ここで終えなければサービスが 30 日後に消去します。',
}

const catalogue: Readonly<Record<string, UnplugWords>> = { en, de, fr, es, ar, ja }

/** @param language one of the page */
export function unplugWords(language: string): UnplugWords {
  return catalogue[language] ?? en
}
