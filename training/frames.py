"""Short notes and lines of profile pages made from frames, in nine languages.

What people put on their profile pages and agents into their files about a user is short and much alike: a mark, a
phrase that thousands use, and then what is theirs. The phrases stand here; what is theirs comes from the sources:
tools, places, occupations, interests, names. Like augment.py: frames and vocabulary are learnt, not truths.
"""

import random
import re

EMOJI = "🔭 🌱 👯 🤔 💬 📫 😄 ⚡ 🚀 💻 🎓 📚 🎯 🔥 ✨ 🌍 👋 🎉 🛠 🧠 📝 💡 🎮 🎵 ☕ 🏠 💼 🐍 ⭐ 🌟 📦 🔗 🧑‍💻 👨‍💻 👩‍💻 🤖 📍 🌐 ❤️ 📌 ✅ ⚠️ 🚧 🔧 🐛 📊 🔒 🗂 📅".split()
HANDLES = "lee ninja rossi dev_k octo kira mono pixel atlas nova sigma byte zen echo luna orbit vega fox tux rio".split()

ENGLISH = """{e} I’m currently working on {p}|{e} I'm currently working on {p}|{e} I’m currently learning {t}|{e} I'm currently learning {t} and {u}
{e} I’m looking to collaborate on {t} projects|{e} I'm looking for help with {t}|{e} Ask me about {t}, {u}, {w}|{e} Ask me about {t}
{e} How to reach me: {h}@example.com|{e} Fun fact: I love {i}|{e} Pronouns: he/him|{e} Pronouns: she/her|Hi there, I'm {n} 👋|Hey, I'm {n}! 👋|Hi 👋, I'm {n}
Hello, I'm {n}, a {o} from {c}.|I'm a {o} based in {c}.|I am {n}, {o} at {b}.|I'm {n}. I work as a {o} in {c} and I like {i}.
{o} at {b}|{o} @{b}|{e} {o} at {b}|Currently {o} at {b}, formerly {o} at {b2}
Languages: {t}, {u}, {w}|Tools I use: {t}, {u}, {w}|Tech stack: {t}, {u}, {w}|Connect with me|Get in touch|Latest blog posts
Based in {c}|Living in {c}|From {c}|{e} Living in {c}|{e} From {c} 🌍|My GitHub stats|{e} I write about {t} and {i}.
Passionate about {t} and {i}.|Open source enthusiast, interested in {t} and {u}.|In my free time I enjoy {i} and {i2}.|When I'm not coding, you can find me {g}.
Self-taught {o} with a passion for {t}.|{y}+ years of experience in {t} and {u}|I have {y} years of experience as a {o}.|I love {i}, {i2} and {t}.
Name: {n}|What to call them: {n}|Timezone: {z}|Location: {c}|Role: {o}|Primary role: {o}|Works at {b} as {o}|Lives in {c}, works remotely
Language: {l}|Native language: {l}, also speaks {l2}|Prefers answers in {l}|Prefers concise answers|Prefers {t} over {u}|Prefers {t} for scripts, {u} for services
Likes: {i}, {i2}|Dislikes: {i}|Interests: {i}, {i2}, {t}|Hobbies: {i}, {i2}|Allergic to {i}|Age: {y2}|Experience level: {y} years|Editor: {t}|Shell: zsh|OS: macOS
Main project: {p} ({t}, {u})|Working on {p}, a {t} app for {i}|Current focus: {p}|Side project: {p}|Wants to learn {t}|Goal this year: learn {t}
Ask before changing files outside {p}|Always run the tests before committing
Communication style: direct, short, no fluff|Prefers short bullet points over long paragraphs|Reminder: meeting about {p} on Monday|Daily report at {k} {z}
Never push to main without review|Use {t} instead of {u}|{p} uses {t} and {u}|{p}: {t} backend, {u} frontend|Deployed {p} to {c2}|Stack: {t} + {u} + {w}"""

CHINESE = """{e} 我正在做 {p}|{e} 正在学习 {t}|{e} 目前在学习 {t} 和 {u}|{e} 对 {t}、{u}、{w} 感兴趣|{e} 邮箱：{h}@example.com|你好，我是 {n} 👋|我是一名{o}，现居{c}。|{o}，热爱开源
热爱{i}和{i2}|喜欢{i}，不喜欢{i2}|职业：{o}|城市：{c}|年龄：{y2}|时区：{z}|语言：中文|回答要简洁，不要废话|请用中文回答
主要项目：{p}|技术栈：{t}、{u}、{w}|常用工具：{t}、{u}|编辑器：{t}|目前在{c}做{o}|在{b}担任{o}|{y} 年{o}经验|正在开发 {p}，基于 {t}|个人博客|项目经历|教育背景|开源项目|联系方式|关于我
提交前先运行测试|修改代码前先确认|不要直接修改主分支|每天 {k} 发送日报|下一步：完成 {p} 的测试|已完成：{p} 接入 {t}|待办：更新 {p} 文档|决定使用 {t}，不用 {u}
feat: 新增 {t} 支持|fix: 修复 {p} 的问题|docs: 更新文档|refactor: 重构 {t} 模块|{p} 使用 {t} 实现|优先使用 {t} 而不是 {u}|使用 {t} 部署|喜欢{i}、{i2}|最近在研究 {t}"""

OTHERS = {
    "ja": """{e} {p} を開発中|{t} を勉強中|{c}在住の{o}です。|{o}をしています。|趣味は{i}と{i2}です。|{i}が好きです。|{i}は苦手です。|はじめまして、{n}です 👋|好きな言語：{t}
簡潔な回答を好む|日本語で回答する|回答は短くしてください|プロジェクト：{p}|使用技術：{t}、{u}|タイムゾーン：{z}|役割：{o}|{t} より {u} を使う|コミット前にテストを実行する|次の作業：{p} のテストを追加する
feat: {t} に対応|fix: {p} の不具合を修正|{p} は {t} で実装|毎日{k}に報告する|{y}年の{t}経験|名前：{n}|現在{b}で{o}として勤務""",
    "es": """{e} Actualmente trabajo en {p}|{e} Aprendiendo {t}|Hola, soy {n} 👋|Soy {o} y vivo en {c}.|Me gusta {i} y {i2}.|No me gusta {i}.|Prefiere respuestas cortas y directas|Responder siempre en español
Nombre: {n}|Ciudad: {c}|Zona horaria: {z}|Proyecto actual: {p}|Usa {t} y {u}|Prefiere {t} a {u}|Trabaja como {o} en {b}|Tengo {y} años de experiencia en {t}.|Próximo paso: terminar las pruebas de {p}
feat: agregar soporte para {t}|fix: corregir error en {p}|Ejecutar las pruebas antes de cada commit|Me apasiona {t} y el código abierto.|Estudiante de ingeniería, me interesa {t}|Pregúntame sobre {t}""",
    "de": """{e} Ich arbeite gerade an {p}|{e} Ich lerne gerade {t}|Hallo, ich bin {n} 👋|Ich bin {o} und wohne in {c}.|Ich mag {i} und {i2}.|Mag kein {i}|Bevorzugt kurze, direkte Antworten|Antworten bitte auf Deutsch
Name: {n}|Ort: {c}|Zeitzone: {z}|Aktuelles Projekt: {p}|Nutzt {t} und {u}|Bevorzugt {t} statt {u}|Arbeitet als {o} bei {b}|{y} Jahre Erfahrung mit {t}|Nächster Schritt: Tests für {p} schreiben
feat: Unterstützung für {t} hinzugefügt|fix: Fehler in {p} behoben|Vor jedem Commit die Tests ausführen|Interessiert an {t} und Open Source|In meiner Freizeit: {i} und {i2}|Frag mich zu {t}""",
    "fr": """{e} Je travaille actuellement sur {p}|{e} J'apprends {t}|Bonjour, je suis {n} 👋|Je suis {o} et j'habite à {c}.|J'aime {i} et {i2}.|N'aime pas {i}|Préfère des réponses courtes et directes|Répondre en français
Nom : {n}|Ville : {c}|Fuseau horaire : {z}|Projet actuel : {p}|Utilise {t} et {u}|Préfère {t} à {u}|Travaille comme {o} chez {b}|{y} ans d'expérience en {t}|Prochaine étape : terminer les tests de {p}
feat: ajout du support de {t}|fix: correction d'un bug dans {p}|Lancer les tests avant chaque commit|Passionné par {t} et l'open source|Étudiant en informatique, intéressé par {t}""",
    "pt": """{e} Atualmente trabalhando em {p}|{e} Aprendendo {t}|Olá, eu sou {n} 👋|Sou {o} e moro em {c}.|Gosto de {i} e {i2}.|Não gosta de {i}|Prefere respostas curtas e diretas|Responder em português
Nome: {n}|Cidade: {c}|Fuso horário: {z}|Projeto atual: {p}|Usa {t} e {u}|Prefere {t} a {u}|Trabalha como {o} na {b}|{y} anos de experiência com {t}|Próximo passo: terminar os testes de {p}
feat: adiciona suporte a {t}|fix: corrige erro em {p}|Rodar os testes antes de cada commit|Apaixonado por {t} e código aberto|Estudante de Ciência da Computação""",
    "ru": """{e} Сейчас работаю над {p}|{e} Изучаю {t}|Привет, я {n} 👋|Я {o}, живу в городе {c}.|Люблю {i} и {i2}.|Не любит {i}|Предпочитает короткие и прямые ответы|Отвечать на русском языке
Имя: {n}|Город: {c}|Часовой пояс: {z}|Текущий проект: {p}|Использует {t} и {u}|Предпочитает {t} вместо {u}|Работает в {b}, должность: {o}|Опыт {t}: {y} лет|Следующий шаг: написать тесты для {p}
feat: добавить поддержку {t}|fix: исправить ошибку в {p}|Перед коммитом запускать тесты|Интересуюсь {t} и открытым кодом|Разработчик на {t}""",
    "ko": """{e} 현재 {p} 개발 중|{e} {t} 공부 중|안녕하세요, {n}입니다 👋|{c}에 사는 {o}입니다.|{i}와 {i2}를 좋아합니다.|{i}를 싫어함|짧고 직접적인 답변을 선호함|한국어로 답변하기
이름: {n}|도시: {c}|시간대: {z}|현재 프로젝트: {p}|{t}, {u} 사용|{u}보다 {t} 선호|{b}에서 {o}로 근무|{t} 경력 {y}년|다음 단계: {p} 테스트 작성
feat: {t} 지원 추가|fix: {p} 오류 수정|커밋 전에 테스트 실행|오픈소스와 {t}에 관심이 많습니다""",
}

# What is put into the frames of a language, where the sources have only English.
OWN = {
    "zh": {
        "o": "前端工程师 后端工程师 全栈工程师 测试工程师 产品经理 数据分析师 算法工程师 设计师 学生 研究生 教师 运维工程师 架构师 自由职业者 医生 会计 项目经理 独立开发者 安卓开发者".split(),
        "c": "北京 上海 杭州 深圳 广州 成都 武汉 南京 西安 苏州 重庆 天津 厦门 长沙 香港 台北 青岛".split(),
        "i": "跑步 摄影 旅行 爬山 咖啡 火锅 辣椒 篮球 游泳 读书 电影 音乐 游戏 做饭 骑行 猫 狗 围棋 吉他 甜食 加班 羽毛球 滑雪 写作".split(),
        "b": "一家互联网公司 一家创业公司 阿里巴巴 腾讯 字节跳动 百度 美团 京东 华为 小米 网易 一所大学 一家银行 一家游戏公司".split(),
    },
    "ja": {
        "o": "エンジニア Webエンジニア デザイナー 学生 大学院生 研究者 データサイエンティスト 会社員 教師 フリーランス プログラマー".split(),
        "c": "東京 大阪 京都 名古屋 福岡 札幌 横浜 神戸 仙台 広島".split(),
        "i": "読書 旅行 写真 料理 散歩 ゲーム 音楽 映画 登山 猫 犬 コーヒー 納豆 ランニング アニメ 釣り キャンプ".split(),
    },
    "es": {
        "o": "desarrollador desarrolladora ingeniera ingeniero de software|diseñadora|profesor|estudiante|analista de datos|médica|abogado".replace(" ", "|", 2).split("|"),
        "c": "Madrid Barcelona Valencia Sevilla Bogotá Lima Santiago Quito Montevideo Córdoba Guadalajara Medellín".split(),
        "i": "la fotografía|correr|el café|los gatos|viajar|el fútbol|la música|cocinar|leer|el picante|nadar|los videojuegos".split("|"),
    },
    "de": {
        "o": "Entwickler|Entwicklerin|Softwareingenieur|Lehrerin|Student|Ärztin|Designer|Projektleiterin|Datenanalyst|Informatiker".split("|"),
        "c": "Berlin Hamburg München Köln Leipzig Dresden Wien Zürich Stuttgart Frankfurt Bremen".split(),
        "i": "Kaffee Wandern Fotografie Fußball Lesen Kochen Katzen Musik Radfahren Brettspiele Schwimmen".split(),
    },
    "fr": {
        "o": "développeur|développeuse|ingénieur logiciel|professeure|étudiant|médecin|graphiste|chef de projet|analyste de données".split("|"),
        "c": "Paris Lyon Marseille Toulouse Nantes Bordeaux Lille Genève Montréal Bruxelles Rennes".split(),
        "i": "la photo|courir|le café|les chats|voyager|le football|la musique|cuisiner|la lecture|la randonnée|les jeux de société".split("|"),
    },
    "pt": {
        "o": "desenvolvedor|desenvolvedora|engenheiro de software|professora|estudante|médico|designer|analista de dados|gerente de projetos".split("|"),
        "c": "São Paulo|Rio de Janeiro|Lisboa|Porto|Curitiba|Recife|Brasília|Belo Horizonte|Salvador|Florianópolis".split("|"),
        "i": "café|correr|viajar|futebol|música|cozinhar|gatos|fotografia|leitura|jogos".split("|"),
    },
    "ru": {
        "o": "разработчик программист инженер студент учитель врач дизайнер аналитик тестировщик менеджер".split(),
        "c": "Москва Казань Новосибирск Екатеринбург Минск Алматы Томск Самара Пермь Ереван".split(),
        "i": "кофе книги музыку бег путешествия кошек футбол шахматы горы кино рыбалку игры фотографию".split(),
    },
    "ko": {
        "o": "개발자 프론트엔드 백엔드 디자이너 학생 교사 연구원 기획자 의사 대학원생".split(),
        "c": "서울 부산 대구 인천 대전 광주 수원 제주".split(),
        "i": "커피 등산 독서 여행 사진 요리 고양이 음악 영화 게임 축구 달리기".split(),
    },
}  # fmt: skip
TOOLS = """Python JavaScript TypeScript Rust Go Java Kotlin Swift C++ C# PHP Ruby Elixir Scala Haskell Lua Dart R Julia SQL Bash React Vue Angular Svelte
Next.js Nuxt Astro Remix Node.js Deno Bun Express Fastify NestJS Django Flask FastAPI Rails Laravel Spring_Boot Docker Kubernetes Terraform Ansible Nginx
PostgreSQL MySQL SQLite MongoDB Redis Kafka RabbitMQ Elasticsearch GraphQL gRPC REST AWS Azure GCP Vercel Cloudflare Firebase Supabase Prisma Drizzle
PyTorch TensorFlow pandas NumPy scikit-learn LangChain LlamaIndex Ollama vLLM OpenAI Claude Gemini Copilot Cursor VS_Code Neovim Vim Emacs IntelliJ tmux Git
GitHub_Actions GitLab_CI Jenkins Tailwind_CSS Sass Vite Webpack esbuild Jest Vitest Playwright Cypress pytest Flutter React_Native Electron Tauri Unity Godot
Blender Figma Notion Obsidian Linux Ubuntu Arch_Linux NixOS Raspberry_Pi Arduino ESP32 Solidity Web3 machine_learning deep_learning computer_vision data_engineering
system_design distributed_systems DevOps open_source cybersecurity cloud_computing LLMs AI_agents MCP WebAssembly Zig pnpm Poetry uv Ruff ESLint Prettier Biome"""
INTERESTS = """hiking reading chess coffee cats dogs photography board_games video_games cooking baking football basketball running cycling climbing
guitar piano jazz sci-fi anime manga mushrooms spicy_food sushi tea travelling camping gardening woodworking 3D_printing astronomy history
philosophy finance investing podcasts films swimming tennis yoga fishing peanuts dairy horror_movies karaoke surfing skiing languages meetings"""
FIRMS = """Microsoft Google Amazon Meta Apple Netflix Stripe Shopify GitHub GitLab Spotify Uber Airbnb Red_Hat IBM Oracle SAP Siemens Bosch Infosys TCS Wipro
Accenture Deloitte Freshworks Zoho Razorpay Postman Atlassian Canva Figma Vercel Cloudflare Datadog HashiCorp MongoDB Elastic Nubank Mercado_Libre Globant
Zalando Klarna Adyen Booking.com Revolut Wise a_startup a_bank a_small_agency a_university the_city a_hospital a_game_studio an_insurance_company"""
JOBS = """software_engineer Software_Engineer full_stack_developer Full_Stack_Developer front-end_developer Frontend_Engineer backend_developer DevOps_engineer
data_scientist Data_Scientist student CS_student machine_learning_engineer product_manager designer UX_designer researcher PhD_student teacher consultant freelancer
founder CTO tech_lead Senior_Software_Engineer web_developer mobile_developer security_engineer data_engineer technical_writer nurse accountant marketing_manager"""
ZONES = "UTC UTC+8 UTC+1 UTC-5 UTC+9 UTC+5:30 CET EST PST JST GMT+8 Asia/Shanghai Europe/Berlin America/New_York Asia/Tokyo Europe/Paris America/Sao_Paulo Asia/Seoul Europe/Moscow Asia/Kolkata".split()
LANGUAGES = "English Spanish German French Chinese Japanese Portuguese Russian Korean Italian Hindi Polish Dutch Turkish".split()


def words(text: str) -> list[str]:
    return [word.replace("_", " ") for word in text.split()]


def frames(text: str) -> list[str]:
    return [f for line in text.splitlines() for f in line.split("|")]


def noted(texts: dict[str, list[str]], names: list[str], rng: random.Random, count: int) -> list[str]:
    tools, things, firms = words(TOOLS), words(INTERESTS), words(FIRMS)
    packages = {t.split("@")[0] for t in texts["npm_identifiers.txt"]}
    projects = sorted(t for t in packages if re.fullmatch(r"[a-z][a-z0-9-]{3,20}", t))
    projects += [t for t in texts["docs_agents.txt"] if re.fullmatch(r"[A-Z][a-z]+[A-Z][A-Za-z]{2,12}", t)]
    cities = [t for t in texts["cities_countries.txt"] if t.count(",") <= 1 and len(t) < 32]
    jobs = [t for t in texts["occupations_skills_onet_esco.txt"] if len(t) < 28 and "," not in t and t.endswith(("er", "or", "ist", "ian"))]
    jobs += words(JOBS) * (len(jobs) // len(words(JOBS)) + 1)
    doing = ["reading", "hiking", "playing guitar", "gaming", "cooking", "running", "travelling", "taking photos", "climbing", "gardening"]
    languages = {"en": frames(ENGLISH), "zh": frames(CHINESE), **{k: frames(v) for k, v in OTHERS.items()}}
    chosen = rng.choices(list(languages), [45, 20, 7, 6, 6, 6, 6, 6, 6], k=count)
    out = []
    for language in chosen:
        own = OWN.get(language, {})
        pick = lambda key, usual: rng.choice(own.get(key, usual))  # noqa: E731
        out.append(
            rng.choice(languages[language]).format(
                e=rng.choice(EMOJI), p=rng.choice(projects), t=rng.choice(tools), u=rng.choice(tools), w=rng.choice(tools),
                h=rng.choice(HANDLES), n=rng.choice(names), o=pick("o", jobs), c=pick("c", cities), c2=rng.choice(cities),
                i=pick("i", things), i2=pick("i", things), b=pick("b", firms), b2=rng.choice(firms), g=rng.choice(doing),
                y=rng.randint(2, 15), y2=rng.randint(18, 60), z=rng.choice(ZONES), l=rng.choice(LANGUAGES),
                l2=rng.choice(LANGUAGES), k=f"{rng.randint(6, 22)}:{rng.choice(('00', '30'))}",
            )
        )  # fmt: skip
    return out


def marked(texts: dict[str, list[str]], rng: random.Random, count: int) -> list[str]:
    """Sentences of people and of projects with a mark before them, as profile pages and status notes have it."""
    lines = [t for name in ("people_en.txt", "people_cards.txt", "project_status.txt", "agent_notes.txt") for t in texts[name] if len(t) < 160]
    return [f"{rng.choice(EMOJI)} {rng.choice(lines)}" for _ in range(count)]
