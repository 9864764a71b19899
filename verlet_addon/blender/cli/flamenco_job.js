// SPDX-License-Identifier: GPL-3.0-or-later
// A job type of Flamenco: Verlet's bakes, a task for each file, scene and combination of values.

// What `verlet job --format flamenco` fills in.
const DEFAULTS = {"files": "", "output_folder": "", "scenes": "", "frames": "", "wedges": "", "options": ""};

const JOB_TYPE = {
    label: "Verlet Bake",
    description: "Bake the soft bodies of files, each in a task of its own",
    settings: [
        { key: "blendfile", type: "string", required: true, visible: "web",
          description: "The open file, which is baked if no others are named" },
        { key: "files", type: "string", default: DEFAULTS.files,
          description: "Files to bake, with ; between them; empty for the open one" },
        { key: "output_folder", type: "string", subtype: "dir_path", required: true, default: DEFAULTS.output_folder,
          description: "Folder for the baked files" },
        { key: "scenes", type: "string", default: DEFAULTS.scenes,
          description: "Scenes to bake, with ; between them; empty for the active one of each file" },
        { key: "frames", type: "string", default: DEFAULTS.frames,
          description: "First and last frame, as 1 250; empty for those of each scene" },
        { key: "wedges", type: "string", default: DEFAULTS.wedges,
          description: "Settings with the values to compare, as stretch_compliance=0,1e-4; Flag.friction=0.2,1" },
        { key: "options", type: "string", default: DEFAULTS.options,
          description: "Further options of verlet bake, as --strict --set=substeps=20" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    const files = parts(settings.files, ";");
    const paths = (files.length ? files : [settings.blendfile]).map((path) => path.replace(/\\/g, "/"));
    const folder = commonFolder(paths);
    const scenes = parts(settings.scenes, ";");
    const names = {};
    for (const path of paths) {
        for (const scene of scenes.length ? scenes : [""]) {
            for (const values of combinations(parts(settings.wedges, ";"))) {
                const words = [path.slice(folder.length).replace(/\.blend$/i, "").replace(/\//g, "_"), scene].concat(values);
                const name = words.filter((word) => word).map(fileName).join("_");
                if (names[name]) {
                    throw new Error("Two tasks would write " + name + ".blend; name each file, scene and value once");
                }
                names[name] = true;
                job.addTask(bakeTask(settings, path, scene, values, name));
            }
        }
    }
    print("Verlet: " + Object.keys(names).length + " tasks");
}

function bakeTask(settings, path, scene, values, name) {
    const output = settings.output_folder.replace(/[\\/]+$/, "") + "/" + name + ".blend";
    let args = ["--command", "verlet", "bake", path, "--output", output, "--parents"];
    if (scene) {
        args.push("--scene=" + scene);
    }
    args = args.concat(frameArguments(settings.frames), optionWords(settings.options));
    // Wedges come last, since a material that is set brings values of its own.
    args = args.concat(values.map((value) => "--set=" + value));
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("exec", { exe: "{blender}", args: args.concat(["--json"]) }));
    return task;
}

// The parts of a text between separators, without spaces around them and without empty ones.
function parts(text, separator) {
    return (text || "").split(separator).map((part) => part.trim()).filter((part) => part);
}

// The longest folder, with its last slash, that holds all paths.
function commonFolder(paths) {
    let folder = paths[0].slice(0, paths[0].lastIndexOf("/") + 1);
    while (!paths.every((path) => path.startsWith(folder))) {
        folder = folder.slice(0, folder.slice(0, -1).lastIndexOf("/") + 1);
    }
    return folder;
}

// All lists with one SETTING=VALUE of each wedge, the last wedge's values first.
function combinations(wedges) {
    let found = [[]];
    for (const wedge of wedges) {
        const place = wedge.indexOf("=");
        const values = place > 0 ? parts(wedge.slice(place + 1), ",") : [];
        if (!values.length) {
            throw new Error("The wedge " + wedge + " has to be SETTING=VALUE,VALUE");
        }
        const longer = [];
        for (const list of found) {
            for (const value of values) {
                longer.push(list.concat([wedge.slice(0, place).trim() + "=" + value]));
            }
        }
        found = longer;
    }
    return found;
}

function frameArguments(frames) {
    const numbers = parts(frames, " ");
    if (numbers.length && !(numbers.length === 2 && numbers.every((number) => /^-?\d+$/.test(number)))) {
        throw new Error("The frames " + frames + " have to be a first and a last one, as 1 250");
    }
    return numbers.length ? ["--frames"].concat(numbers) : [];
}

// Words between spaces; those in double quotes may hold spaces.
function optionWords(text) {
    return ((text || "").match(/"[^"]*"|\S+/g) || []).map((word) => word.replace(/^"|"$/g, ""));
}

// A text as part of a file's name; characters that some platforms forbid become _.
function fileName(text) {
    return text.replace(/[<>:"\/\\|?*\x00-\x1f]/g, "_");
}
